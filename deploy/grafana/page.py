"""A dashboard: its panels in rows, and the faults of the run as annotations over all of them."""

from collections.abc import Mapping, Sequence

from grafana_foundation_sdk.builders import dashboard as build
from grafana_foundation_sdk.builders import prometheus
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models import dashboard as model

from deploy.grafana.panels import EVERY, SOURCE, Panel


def page(title: str, description: str, rows: Mapping[str, Sequence[Panel]]) -> model.Dashboard:
    """A dashboard whose uid and file name follow from its title."""
    made = build.Dashboard(title).uid(f"pame-{slug(title)}").description(description).tags(["pame"]).readonly()
    made.time("now-15m", "now").refresh("5s").timezone("browser").tooltip(model.DashboardCursorSync.CROSSHAIR)
    made.annotations([_FAULTS, _DISTURBANCES])
    for name, panels in rows.items():
        made.with_row(build.Row(name))
        for panel in panels:
            made.with_panel(panel)
    dashboard = made.build()
    for number, placed in enumerate(dashboard.panels or [], start=1):
        placed.id_val = number
    return dashboard


def slug(title: str) -> str:
    """Transmission volume: transmission-volume."""
    return title.lower().replace(" ", "-")


class PrometheusAnnotation(model.AnnotationQuery):
    """An annotation that is asked of Prometheus; the SDK knows only those of Grafana's own store."""

    def __init__(self, name: str, colour: str, expr: str, text: str) -> None:
        super().__init__(name=name, datasource=SOURCE, enable=True, icon_color=colour)
        self._query = prometheus.Dataquery().expr(expr).ref_id("Anno").interval(EVERY).range().build()
        self._text = text

    def to_json(self) -> dict[str, object]:
        """As Grafana's Prometheus plug-in reads it."""
        return super().to_json() | {"target": self._query, "titleFormat": self.name, "textFormat": self._text}


class _Ready(Builder[model.AnnotationQuery]):
    """Something that is built already."""

    def __init__(self, annotation: model.AnnotationQuery) -> None:
        self._annotation = annotation

    def build(self) -> model.AnnotationQuery:
        return self._annotation


_FAULTS = _Ready(PrometheusAnnotation("Faults in force", "orange", "pame_run_active_faults > 0", "a fault is in force"))
_DISTURBANCES = _Ready(
    PrometheusAnnotation(
        "Nodes that died, left or came back",
        "red",
        "sum by (what) (increase(pame_run_disturbances_total[6s])) > 0",
        "a node {{what}}",
    )
)
