"""Deliberate breaks of what is written to files and shown on a terminal; see table.py."""

from breaks import Break

FILES = "python/test_files.py::"
TERMINAL = "python/test_terminal.py::"
FILES_PY = "python/stiction/files.py"

OUTPUT = [
    Break("files: written in place", FILES_PY, "    part = _make_part(target)\n    try:\n        yield part",
          "    part = target\n    try:\n        yield part",
          pytests=(FILES + "test_what_fails_changes_nothing",)),
    Break("files: a link is replaced by a file", FILES_PY, "Path(os.path.realpath(path))", "Path(path)",
          pytests=(FILES + "test_a_link_stays_one", FILES + "test_a_checkpoint_elsewhere_stays_there")),
    Break("files: the name reaches the disk before the bytes", FILES_PY, "        _sync(part)\n", "",
          pytests=(FILES + "test_the_disk_has_it_before_it_counts",)),
    Break("lock: two may have it", FILES_PY, "fcntl.LOCK_EX | fcntl.LOCK_NB", "fcntl.LOCK_SH | fcntl.LOCK_NB",
          pytests=(FILES + "test_a_folder_has_one_owner_and_says_which",
                   FILES + "test_many_processes_are_in_one_after_the_other")),
    Break("lock: a file that its owner has removed", FILES_PY,
          "os.path.samestat(os.fstat(fd), os.stat(self.path))", "True",
          pytests=(FILES + "test_many_processes_are_in_one_after_the_other",)),
    Break("lock: without the kernel's, the dead keep theirs", FILES_PY,
          "_is_running(int(words[1]))", "True",
          pytests=(FILES + "test_a_lock_of_the_dead_is_taken_over",)),
    Break("train: no lock", "python/stiction/learning/session.py",
          "with CtrlC() as ctrl_c, lock_of(args):", "with CtrlC() as ctrl_c:",
          pytests=(FILES + "test_a_second_run_is_refused",)),
    Break("replay: names as they are", "python/stiction/replay.py",
          "environment {visible(name)} of", "environment {name} of",
          pytests=(TERMINAL + "test_replay",)),
    Break("batch files: the mode is that of a new file", "src/files.cpp",
          "if (old != nullptr) copy_owner_and_mode", "if (old == nullptr && size == 0) copy_owner_and_mode",
          gtests=("Files.AFileKeepsItsMode",), pytests=(FILES + "test_batch_files_are_replaced_alike",)),
    Break("batch files: a link is replaced by a file", "src/files.cpp",
          "const fs::path target = followed(path);", "const fs::path target = path; (void)followed;",
          gtests=("Files.ALinkStaysOne",)),
    Break("batch files: half a file is left where the disk is full", "src/files.cpp",
          "    std::remove(part.c_str());\n", "", gtests=("Files.WhatCannotBeWrittenStays",)),
    Break("text: marks of direction are shown", "src/text.cpp", "{0x2028, 0x202e}", "{0x2028, 0x2029}",
          gtests=("Text.WhatATerminalObeysIsEscaped",)),
    Break("text: an encoding longer than needed passes", "src/text.cpp",
          "if (code < kLeast[size] || surrogate", "if (surrogate",
          gtests=("Text.WhatATerminalObeysIsEscaped",)),
    Break("errors: messages as they are", "src/text.cpp",
          "std::runtime_error(visible_lines(message))", "std::runtime_error(message)",
          gtests=("Text.ErrorsCanBePrinted",)),
    Break("names: the nearest ones as they are", "src/names.cpp",
          "visible(*ranked[i].second)", "*ranked[i].second",
          pytests=(TERMINAL + "test_names_in_python",)),
    Break("report: names as they are", "src/model/report.cpp", "cell = visible(cell);", "cell += \"\";",
          pytests=(TERMINAL + "test_names_in_python",)),
]
