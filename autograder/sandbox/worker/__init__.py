"""The untrusted side: everything that shares a process with student code.

Imports the standard library, NumPy and IPython, and nothing else of the kit. It is started by path, under the
name ``judge_worker``, in an interpreter that cannot see the rest of the kit.

Processes, all below one *zygote* (``zygote.py``), which never runs student code::

    zygote      warm interpreter; forks for each run; buries the dead; ends when the judge goes away
      main      one run of a notebook: the cells in order (``runner.py``, ``shell.py``, ``streams.py``)
        held    forked at the place of a test cell; waits (``examinee.py``)
          exam  forked from ``held`` for each examination; answers calls until it is killed

When the cells have run, the judge has everything killed but the held forks.

Sockets: the judge makes every socket pair and hands the far ends down with SCM_RIGHTS, so that nothing but
bytes ever comes up. One socket for the zygote, one for each main process, one for each held fork and one for
each examination. All speak the frames of ``wire.py``; the judge uses that module and ``processes.py``, too.
"""
