// `binnacle crd plan`.
import { applyDefinition } from '../../authoring/apply-plan.js'
import { isDefinition, metaIn, readDocuments } from '../../authoring/documents.js'
import { connect } from '../../authoring/live-server.js'
import { planChanges } from '../../authoring/plan.js'
import { counted } from '../../authoring/report.js'
import { UsageError } from '../../base/usage-error.js'
import { specOf } from '../../crd/definition.js'
import { optionalText, repeatedText, toggle } from '../../server/options.js'
import type { Command } from '../command.js'
import { parseArguments, printFlags } from '../flags/flags.js'
import { EXIT_CODES, finish, reportFlags, withUsageErrors } from '../report/report.js'

const planFlags = {
  old: repeatedText('FILE', 'the definitions as they are; may be repeated'),
  kubeconfig: optionalText('FILE', 'the server whose definitions and objects are looked at, in the place of --old'),
  apply: toggle('bring the definitions onto the server of --kubeconfig, step by step', false),
  ...reportFlags('error'),
}

const HELP = `Usage: binnacle crd plan FILE... --old=FILE [flags]
       binnacle crd plan FILE... --kubeconfig=FILE [--apply] [flags]

Says what a change of CustomResourceDefinitions means: compatible, breaking for those who write objects, for those who read
them, or for objects that are stored; each with why and where. With a server, the stored objects that would be refused or lose
fields are named. --apply adds new versions, changes the storage version, writes every object again, and removes old versions,
waiting after each step.

${EXIT_CODES}

Flags:
${printFlags(planFlags)}
`

export const PLAN: Command = { run: args => withUsageErrors(() => plan(args)), help: () => HELP }

async function plan(args: readonly string[]): Promise<void> {
  const { values, words } = parseArguments(args, planFlags)
  if (words.length === 0) throw new UsageError('there is no definition: binnacle crd plan FILE --old=FILE')
  if (values.old.length === 0 && values.kubeconfig === undefined) {
    throw new UsageError('there is nothing to compare with: give --old=FILE or --kubeconfig=FILE')
  }
  const server = values.kubeconfig === undefined ? undefined : connect(values.kubeconfig)
  if (values.apply && !server) throw new UsageError('--apply needs the server of --kubeconfig')
  const read = readDocuments(words)
  const old = readDocuments(values.old)
  const before = new Map(old.documents.filter(isDefinition).map(document => [metaIn(document).name, document.value]))
  const { findings, definitions, objects } = await planChanges({
    documents: read.documents,
    async oldOf(name) {
      return before.get(name) ?? server?.get(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`)
    },
    ...(server && {
      objectsOf: (definition, version) =>
        server.list(`/apis/${specOf(definition).group}/${version}/${specOf(definition).names.plural}`),
    }),
  })
  const looked = server ? ` and ${counted(objects, 'object')}` : ''
  const all = [...read.findings, ...old.findings, ...findings]
  finish(
    {
      command: 'crd plan',
      findings: all,
      checked: `${counted(definitions, 'definition')}${looked}`,
      files: [...new Set(read.documents.map(({ file }) => file))],
    },
    values,
  )
  const refused = all.some(
    ({ severity, rule }) => severity === 'error' && !rule.startsWith('breaks-') && rule !== 'stored-object',
  )
  if (!values.apply || refused) return
  for (const { value } of read.documents.filter(isDefinition))
    await applyDefinition(server!, value, line => console.log(line))
}
