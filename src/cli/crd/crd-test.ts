// `binnacle crd test`.
import { testDefinitions } from '../../authoring/crd-test.js'
import { readDocuments } from '../../authoring/documents.js'
import { createFinding } from '../../authoring/findings.js'
import { counted } from '../../authoring/report.js'
import { UsageError } from '../../base/usage-error.js'
import { count } from '../../server/options.js'
import type { Command } from '../command.js'
import { parseArguments, printFlags } from '../flags/flags.js'
import { EXIT_CODES, finish, reportFlags, withUsageErrors } from '../report/report.js'

const testFlags = {
  'min-coverage': count('the percentage of checks that some case must break', 0),
  ...reportFlags('error'),
}

const HELP = `Usage: binnacle crd test FOLDER... [flags]

Runs the cases of DefinitionTests (apiVersion: binnacle.dev/v1) by the definitions and policies among the files: objects that
must be accepted, refused with a message, defaulted or converted. Required fields, enums, bounds, patterns and rules that no
case breaks are notes.

${EXIT_CODES}

Flags:
${printFlags(testFlags)}
`

export const TEST: Command = { run: args => withUsageErrors(() => test(args)), help: () => HELP }

async function test(args: readonly string[]): Promise<void> {
  const { values, words } = parseArguments(args, testFlags)
  if (words.length === 0) throw new UsageError('there is nothing to test: binnacle crd test FOLDER')
  const read = readDocuments(words)
  const { findings, cases, failed, coverage } = await testDefinitions(read.documents)
  if (cases === 0) throw new UsageError(`there is no DefinitionTest with cases in ${words.join(', ')}`)
  const percent = coverage.checks === 0 ? 100 : Math.floor((coverage.broken / coverage.checks) * 100)
  const all = [...read.findings, ...findings]
  if (percent < values['min-coverage']) {
    const message = `cases break ${percent}% of the checks, and --min-coverage asks for ${values['min-coverage']}%`
    const at = { file: words[0]!, line: 1, column: 1, text: '' }
    all.push(createFinding({ rule: 'coverage', severity: 'error', message, at }))
  }
  const broken = `${coverage.broken} of ${counted(coverage.checks, 'check')} broken`
  finish(
    {
      command: 'crd test',
      findings: all,
      checked: `${counted(cases, 'case')} (${failed} failed; ${broken})`,
      files: [...new Set(read.documents.map(({ file }) => file))],
      details: { cases, failed, coverage },
    },
    values,
  )
}
