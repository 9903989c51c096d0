"""A dashboard: its panels in rows, and the faults of the run as annotations over all of them."""

from grafana_foundation_sdk.builders import dashboard as build
from grafana_foundation_sdk.builders import prometheus
from grafana_foundation_sdk.models import dashboard as model

from deploy.grafana.panels import SOURCE, Rows

STEP = "4s"
"""The shortest step of annotations: two scrapes, so that each step has a sample to look at."""
OLD_STEP = "10s"
"""The same for Grafana before 11.6.2 and 12.0.1: it asks for 100 points, and 15 minutes are shown."""


def page(title: str, description: str, rows: Rows) -> model.Dashboard:
    """A dashboard whose uid and file name follow from its title."""
    made = build.Dashboard(title).uid(f"pame-{slug(title)}").description(description).tags(["pame"]).readonly()
    made.time("now-15m", "now").refresh("5s").timezone("browser").tooltip(model.DashboardCursorSync.CROSSHAIR)
    for name, panels in rows.items():
        made.with_row(build.Row(name))
        for heading, panel in panels.items():
            made.with_panel(panel.title(heading))
    dashboard = made.build()
    dashboard.annotations = model.AnnotationContainer(list_val=[_FAULTS, _DISTURBANCES])
    for number, placed in enumerate(dashboard.panels or [], start=1):
        placed.id_val = number
    return dashboard


def slug(title: str) -> str:
    """Transmission volume: transmission-volume."""
    return title.lower().replace(" ", "-")


class PrometheusAnnotation(model.AnnotationQuery):
    """An annotation that is asked of Prometheus; the SDK knows only those of Grafana's own store.

    Grafana joins samples above 0 that are no more than a step apart to one region, which is shaded over all panels; one
    alone is a line. Grafana before 11.6.2 and 12.0.1 reads `expr` and `step`, later ones read `target` and drop these.
    """

    def __init__(self, name: str, colour: str, expr: str, text: str) -> None:
        super().__init__(name=name, datasource=SOURCE, enable=True, icon_color=colour)
        self._expr = expr
        self._query = prometheus.Dataquery().expr(expr).ref_id("Anno").interval(STEP).range().build()
        self._text = text

    def to_json(self) -> dict[str, object]:
        """As Grafana's Prometheus plug-in reads it."""
        asked = {"target": self._query, "expr": self._expr, "step": OLD_STEP}
        return super().to_json() | asked | {"titleFormat": self.name, "textFormat": self._text}


_FAULTS = PrometheusAnnotation(
    "Faults in force", "orange", "max_over_time(pame_run_active_faults[$__interval]) > 0", "a fault is in force"
)
_DISTURBANCES = PrometheusAnnotation(
    "Nodes that died, left or came back",
    "red",
    "sum by (what) (pame_run_disturbances_total - pame_run_disturbances_total offset $__interval) > 0",
    "a node {{what}}",
)
