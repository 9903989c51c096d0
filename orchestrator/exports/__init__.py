"""What runs left behind for other programs: tables, files of other formats, figures for a paper.

    column_table    columns of one length                    run_tables        the tables of a run folder
    campaign_tables those of a sweep, comparison, study      formats           CSV, Parquet
    tensorboard     event files                              named_tables      a folder, whatever is in it
    figure_series   tables -> lines of a figure              paper_figure      lines -> PDF, SVG, PNG

Heavy libraries (pyarrow, tensorboardX) are imported by the one function that needs them, and are an extra.

May import: `orchestrator.results`, `orchestrator.report`, `orchestrator.experiment`, `contract`, `pame`.
"""
