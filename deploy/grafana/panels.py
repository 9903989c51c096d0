"""The few shapes of panels that our dashboards are made of; every panel says what it shows, in which unit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from grafana_foundation_sdk.builders import bargauge, common, heatmap, prometheus, stat, table, timeseries
from grafana_foundation_sdk.builders import dashboard as build
from grafana_foundation_sdk.models import common as looks
from grafana_foundation_sdk.models import dashboard as model
from grafana_foundation_sdk.models.heatmap import HeatmapColorMode, HeatmapColorScale
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

SOURCE = model.DataSourceRef(type_val="prometheus", uid="prometheus")
"""As in provisioning/datasources."""
EVERY = "2s"
"""No shorter than a scrape."""
BYTES, BYTES_PER_SECOND, SHARE, SECONDS, COUNT, PER_SECOND = "decbytes", "Bps", "percentunit", "s", "short", "cps"
_SMALL, _HALF = 4, 12
"""Of the 24 columns of a page."""
IN_RUN = '{node!="-"}'
"""Only processes that are nodes of this run: others may still have figures of a former one."""

Limits = Sequence[tuple[float, str]]
"""From this value on, that colour; green below the first."""
P = TypeVar("P", stat.Panel, timeseries.Panel, bargauge.Panel, table.Panel, heatmap.Panel)
Panel = stat.Panel | timeseries.Panel | bargauge.Panel | table.Panel | heatmap.Panel
Rows = Mapping[str, Mapping[str, Panel]]
"""Panels by their titles, in rows by theirs."""


@dataclass(frozen=True)
class Query:
    """What is asked, and the name of what comes back; {{label}} stands for the label's value."""

    expr: str
    legend: str = ""


def number(about: str, expr: str, limits: Limits = (), below: str = "green", unit: str = COUNT) -> Panel:
    """One figure; after a run that of the run's last moment."""
    panel = _common(stat.Panel(), about, unit, [Query(expr)], limits, below).span(_SMALL).height(4)
    return panel.graph_mode(looks.BigValueGraphMode.AREA).reduce_options(_last())


def word(about: str, query: Query) -> Panel:
    """The name of the one series there is."""
    panel = _common(stat.Panel(), about, COUNT, [query]).span(_SMALL).height(4)
    return panel.graph_mode(looks.BigValueGraphMode.NONE).text_mode(looks.BigValueTextMode.NAME).reduce_options(_last())


def lines(
    about: str,
    *queries: Query,
    unit: str = COUNT,
    limits: Limits = (),
    stacked: bool = False,
    logarithmic: bool = False,
    right: tuple[Query, str] | None = None,
) -> Panel:
    """Curves over time; limits are dashed lines; `right` has an axis of its own, of another unit."""
    asked = [*queries, right[0]] if right else queries
    panel = _common(timeseries.Panel(), about, unit, asked, limits).span(_HALF).height(8)
    panel.color_scheme(build.FieldColor().mode(model.FieldColorModeId.PALETTE_CLASSIC_BY_NAME))
    panel.tooltip(common.VizTooltipOptions().mode(looks.TooltipDisplayMode.MULTI).sort(looks.SortOrder.DESCENDING))
    panel.legend(_legend()).fill_opacity(40 if stacked else 5).show_points(looks.VisibilityMode.NEVER)
    if stacked:
        panel.stacking(common.StackingConfig().mode(looks.StackingMode.NORMAL).group("A"))
    if logarithmic:
        panel.scale_distribution(common.ScaleDistributionConfig().type(looks.ScaleDistribution.LOG).log(10))
    else:
        panel.axis_soft_min(0)
    if right:
        panel.override_by_name(right[0].legend, _on_the_right(right[1]))
    if limits:
        panel.thresholds_style(common.GraphThresholdsStyleConfig().mode(looks.GraphThresholdsStyleMode.DASHED))
    return panel


def two_scales(about: str, left: Query, right: Query, right_unit: str) -> Panel:
    """Two curves with an axis of their own each; the left one is logarithmic."""
    panel = _common(timeseries.Panel(), about, COUNT, [left, right]).span(_HALF).height(8)
    panel.legend(_legend()).show_points(looks.VisibilityMode.NEVER)
    panel.scale_distribution(common.ScaleDistributionConfig().type(looks.ScaleDistribution.LOG).log(10))
    linear = model.DynamicConfigValue("custom.scaleDistribution", {"type": "linear"})
    return panel.override_by_name(right.legend, [*_on_the_right(right_unit), linear])


def bars(about: str, *queries: Query, unit: str = COUNT, limits: Limits = ()) -> Panel:
    """The latest value of every series."""
    panel = _common(bargauge.Panel(), about, unit, queries, limits, instant=True).span(_HALF).height(8).min(0)
    panel.orientation(looks.VizOrientation.HORIZONTAL).display_mode(looks.BarGaugeDisplayMode.BASIC)
    return panel.reduce_options(_last())


def matrix(about: str, expr: str, row: str, column: str, unit: str) -> Panel:
    """A heat map with a cell for every pair of labels."""
    panel = _common(table.Panel(), about, unit, [], instant=True).span(_HALF).height(12).min(0)
    panel.with_target(_target(Query(expr), "A", instant=True).format(PromQueryFormat.TABLE))
    options = {"rowField": row, "columnField": column, "valueField": "Value", "emptyValue": "null"}
    panel.with_transformation(model.DataTransformerConfig(id_val="groupingToMatrix", options=options))
    panel.color_scheme(build.FieldColor().mode(model.FieldColorModeId.CONTINUOUS_BL_YL_RD))
    panel.cell_options(looks.TableColoredBackgroundCellOptions(mode=looks.TableCellBackgroundDisplayMode.GRADIENT))
    plain = model.DynamicConfigValue("custom.cellOptions", {"type": "auto"})
    return panel.override_by_name(f"{row}\\{column}", [plain])


def heat(about: str, query: Query, unit: str) -> Panel:
    """A heat map with a row for every series, over time."""
    panel = _common(heatmap.Panel(), about, unit, [query]).span(_HALF).height(12).calculate(False).cell_gap(1)
    colours = heatmap.HeatmapColorOptions().mode(HeatmapColorMode.SCHEME).scheme("Turbo").steps(64)
    panel.color(colours.scale(HeatmapColorScale.LINEAR).fill("dark-orange").exponent(0.5))
    panel.cell_values(heatmap.CellValues().unit(unit))
    panel.scale_distribution(common.ScaleDistributionConfig().type(looks.ScaleDistribution.LINEAR))
    return panel.mode(looks.TooltipDisplayMode.SINGLE).hide_y_histogram()


def _common(
    panel: P,
    about: str,
    unit: str,
    queries: Sequence[Query],
    limits: Limits = (),
    below: str = "green",
    instant: bool = False,
) -> P:
    panel.description(about).unit(unit).datasource(SOURCE).interval(EVERY)
    for letter, query in zip("ABCDEFGH", queries, strict=False):
        panel.with_target(_target(query, letter, instant))
    steps = [model.Threshold(color=below), *(model.Threshold(value=value, color=colour) for value, colour in limits)]
    panel.thresholds(build.ThresholdsConfig().mode(model.ThresholdsMode.ABSOLUTE).steps(steps))
    return panel


def _target(query: Query, letter: str, instant: bool) -> prometheus.Dataquery:
    made = prometheus.Dataquery().expr(query.expr).ref_id(letter).datasource(SOURCE)
    if query.legend:
        made.legend_format(query.legend)
    return made.instant() if instant else made.range()


def _on_the_right(unit: str) -> list[model.DynamicConfigValue]:
    return [model.DynamicConfigValue("unit", unit), model.DynamicConfigValue("custom.axisPlacement", "right")]


def _legend() -> common.VizLegendOptions:
    shown = common.VizLegendOptions().show_legend(True).display_mode(looks.LegendDisplayMode.LIST)
    return shown.placement(looks.LegendPlacement.BOTTOM).calcs([])


def _last() -> common.ReduceDataOptions:
    return common.ReduceDataOptions().calcs(["lastNotNull"]).values(False)
