// `binnacle crd lint`.
import { readDocuments } from '../../authoring/documents.js'
import { LINT_RULES, lintDefinitions } from '../../authoring/lint.js'
import { counted } from '../../authoring/report.js'
import { UsageError } from '../../base/usage-error.js'
import { list } from '../../server/options.js'
import type { Command } from '../command.js'
import { parseArguments, printFlags } from '../flags/flags.js'
import { EXIT_CODES, finish, reportFlags, withUsageErrors } from '../report/report.js'

const lintFlags = {
  ignore: list('RULE,...', 'rules that are not applied'),
  ...reportFlags('warning'),
}

const rules = LINT_RULES.map(({ name, severity, reason }) => `  ${name} (${severity})\n      ${reason}`).join('\n')

const HELP = `Usage: binnacle crd lint FILE... [flags]

Finds what is allowed in a CustomResourceDefinition and yet not good for its users. What the server would refuse is an error.

A finding is silenced by a comment on its line or the line before (# binnacle-ignore: RULE), by the annotation
binnacle.dev/lint-ignore: RULE, PATH:RULE, or for all files by --ignore.

${EXIT_CODES}

Flags:
${printFlags(lintFlags)}

Rules:
${rules}
`

export const LINT: Command = { run: args => withUsageErrors(() => lint(args)), help: () => HELP }

async function lint(args: readonly string[]): Promise<void> {
  const { values, words } = parseArguments(args, lintFlags)
  if (words.length === 0) throw new UsageError('there is no file to lint: binnacle crd lint FILE...')
  const unknown = values.ignore.find(name => !LINT_RULES.some(rule => rule.name === name))
  if (unknown !== undefined)
    throw new UsageError(`there is no rule ${unknown}: binnacle crd lint --help shows all rules`)
  const read = readDocuments(words)
  const { findings, definitions } = await lintDefinitions(read.documents, { ignored: values.ignore })
  finish(
    {
      command: 'crd lint',
      findings: [...read.findings, ...findings],
      checked: `${counted(definitions, 'definition')} of ${counted(read.files, 'file')}`,
      files: [...new Set(read.documents.map(({ file }) => file))],
      rules: new Map(LINT_RULES.map(({ name, reason }) => [name, reason])),
    },
    values,
  )
}
