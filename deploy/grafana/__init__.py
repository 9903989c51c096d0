"""Grafana's dashboards as code: `python -m deploy.grafana.make_dashboards` writes the JSON that Grafana reads.

panels.py    the few shapes of panels, all with the same look       one module per dashboard    what is on it
"""
