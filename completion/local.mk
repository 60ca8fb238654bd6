# SPDX-License-Identifier: GPL-3.0-or-later
# Completion in shells, in the directories where each looks for it.  Debian has
# another one for zsh: make install zshcompletiondir=...
bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_bashcompletion_DATA = completion/bash/cpprof
dist_zshcompletion_DATA = completion/zsh/_cpprof
dist_fishcompletion_DATA = completion/fish/cpprof.fish
