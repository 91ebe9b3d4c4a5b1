#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# completion.sh bash|zsh PROGRAM: prints the completion of a built program for that shell, made of what its --help
# says, which comes from the tables that it parses options by. PROGRAM with verbs lists them in `help`.
set -eu
shell=$1 program=$2
name=${program##*/} word=${program##*/}
word=${word//-/_}

# "SHORT LONG METAVAR" of each option in a help text on stdin; "-" where there is none.
options()
{
	sed -nE 's/^  (-(.), |    )--([a-z-]+)( ([^ ]+))?( .*)?$/\2 \3 \5/p' | sed -E 's/^ /- /; s/ $/ -/'
}

verbs()
{
	[ "$name" != quartzctl ] || "$program" help | sed -nE 's/^  ([a-z-]+) +(.*)/\1 \2/p'
}

# help_of [VERB]
help_of()
{
	"$program" ${1:+"$1"} --help
}

# The words of a|b|c, without what stands for others.
choices()
{
	tr '|' '\n' <<<"$1" | grep -v '[A-Z]' | paste -sd ' '
}

# What bash offers for a value of an option.
bash_values()
{
	case $2,$1 in
	input,FILE) echo '_quartz_profiles "$cur"'; return ;;
	esac
	case $1 in
	*FILE'|'*) echo 'compgen -f -- "$cur"' ;;
	*'|'*) echo "compgen -W '$(choices "$1")' -- \"\$cur\"" ;;
	FILE | PATH) echo 'compgen -f -- "$cur"' ;;
	PID*) echo 'compgen -W "$(cd /proc && echo [0-9]*)" -- "$cur"' ;;
	USER) echo 'compgen -u -- "$cur"' ;;
	*) echo : ;;
	esac
}

# Profiles that can be named: those here, and those that record keeps. Without any, what bash has by default.
profiles_function='
_quartz_profiles()
{
	local state=${QUARTZ_STATE_DIR:-/var/lib/quartz} file

	compopt -o filenames 2>/dev/null
	compgen -f -X "!*.pb.gz" -- "$1"
	compgen -d -- "$1"
	for file in "$state"/profiles/*.pb.gz "$state/users/$UID"/*.pb.gz; do
		[[ ! -r $file || $file != "$1"* ]] || echo "$file"
	done
}
'

# takes_profile [VERB]: the operand is one, or may be.
takes_profile()
{
	help_of "$@" | grep -qE '^  (-i, |    )--input |^Usage: .* BEFORE'
}

# takes_command [VERB]
takes_command()
{
	help_of "$@" | grep -q '^Usage: .*\[--\] COMMAND'
}

# bash_options [VERB]: the branch of one verb, which completes a value or an option.
bash_options()
{
	local short long value words=

	echo "	case \$prev in"
	while read -r short long value; do
		words+=" --$long"
		[ "$value" = - ] || {
			[ "$short" = - ] || printf '\t-%s | --%s)' "$short" "$long"
			[ "$short" != - ] || printf '\t--%s)' "$long"
			printf ' mapfile -t COMPREPLY < <(%s); return ;;\n' "$(bash_values "$value" "$long")"
		}
	done < <(help_of "$@" | options)
	printf '\tesac\n'
	! takes_command "$@" ||
		printf '\t[[ $cur == -* ]] || { mapfile -t COMPREPLY < <(compgen -c -- "$cur"); return; }\n'
	! takes_profile "$@" ||
		printf '\t[[ $cur == -* ]] || { mapfile -t COMPREPLY < <(_quartz_profiles "$cur"); return; }\n'
	echo "	mapfile -t COMPREPLY < <(compgen -W '${words# }' -- \"\$cur\")"
}

bash_completion()
{
	local verb rest all

	echo "# $name: completion for bash, made by scripts/completion.sh"
	[ "$name" != quartzctl ] || echo "$profiles_function"
	all=$(verbs | cut -d' ' -f1)
	if [ -z "$all" ]; then
		printf '_%s()\n{\n\tlocal cur=$2 prev=$3\n\n' "$word"
		bash_options
		printf '}\n'
	else
		for verb in $all; do
			[ "$verb" != help ] || continue
			printf '_%s_%s()\n{\n' "$word" "$verb"
			bash_options "$verb"
			printf '}\n\n'
		done
		printf '_%s()\n{\n\tlocal cur=$2 prev=$3\n\n' "$word"
		# shellcheck disable=SC2086 # a list of words
		printf '\tif [ "$COMP_CWORD" = 1 ] || { [ "$prev" = help ] && [ "$COMP_CWORD" = 2 ]; }; then
		mapfile -t COMPREPLY < <(compgen -W "%s" -- "$cur")
	elif declare -F "_%s_${COMP_WORDS[1]}" >/dev/null; then
		"_%s_${COMP_WORDS[1]}"
	fi\n}\n' "$(echo $all)" "$word" "$word"
	fi
	# Where nothing fits, files: operands are profiles and programs.
	echo "complete -o bashdefault -o default -F _$word $name"
}

zsh_values()
{
	case $2,$1 in
	input,FILE) echo '_files -g "*.pb.gz"'; return ;;
	esac
	case $1 in
	*FILE'|'*) echo _files ;;
	*'|'*) echo "($(choices "$1"))" ;;
	FILE | PATH) echo _files ;;
	PID*) echo _pids ;;
	USER) echo _users ;;
	*) ;;
	esac
}

# zsh_options [VERB]
zsh_options()
{
	local short long value spec

	while read -r short long value; do
		spec=
		[ "$value" = - ] || spec=":$value:$(zsh_values "$value" "$long")"
		[ "$short" = - ] || printf "\t\t'-%s%s' \\\\\n" "$short" "$spec"
		printf "\t\t'--%s%s' \\\\\n" "$long" "${spec:+=$spec}"
	done < <(help_of "$@" | options)
	if takes_command "$@"; then
		printf "\t\t'*::command:_normal'\n"
	elif takes_profile "$@"; then
		printf "\t\t'*::operand:_files -g \"*.pb.gz\"'\n"
	else
		printf "\t\t'*::operand:_files'\n"
	fi
}

zsh_completion()
{
	local verb rest

	echo "#compdef $name"
	echo "# $name: completion for zsh, made by scripts/completion.sh"
	if [ -z "$(verbs)" ]; then
		printf '_arguments \\\n'
		zsh_options
		return
	fi
	printf 'local -a verbs=(\n'
	verbs | sed -E "s/'/'\\\\''/g; s/^([a-z-]+) (.*)/\t'\1:\2'/"
	printf ')\n(( CURRENT > 2 )) || { _describe command verbs; return }\n'
	printf 'words=("${(@)words[2,-1]}"); (( CURRENT-- ))\ncase $words[1] in\n'
	while read -r verb rest; do
		if [ "$verb" = help ]; then
			printf 'help) _describe command verbs ;;\n'
			continue
		fi
		printf '%s)\n\t_arguments \\\n' "$verb"
		zsh_options "$verb"
		printf '\t;;\n'
	done < <(verbs)
	printf 'esac\n'
}

"${shell}_completion"
