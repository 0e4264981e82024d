// `binnacle diff --history` and `binnacle get --at`: an object of a server as it was.
import {
  editsOf,
  findResource,
  type LiveResource,
  objectAtVersion,
  type Revision,
  revisionsOf,
} from '../../authoring/history.js'
import { connect, type LiveServer } from '../../authoring/live-server.js'
import { UsageError } from '../../base/usage-error.js'
import { encodeJson } from '../../codec/json.js'
import { encodeYaml } from '../../codec/yaml.js'
import type { Value, ValueObject } from '../../meta/values/value.js'
import { count, optionalText, text, toggle } from '../../server/options.js'
import type { Command } from '../command.js'
import { parseArguments, printFlags } from '../flags/flags.js'
import { withUsageErrors } from '../report/report.js'

const liveFlags = {
  kubeconfig: optionalText('FILE', 'the server; by default that of KUBECONFIG, or ~/.kube/config'),
  namespace: text('NAME', 'the namespace of the object', 'default'),
}
const diffFlags = {
  ...liveFlags,
  history: toggle('show every change that the server remembers', false),
  limit: count('how many changes to show at most, the newest ones', 20),
}
const getFlags = {
  ...liveFlags,
  at: optionalText('TIME|VERSION', 'a time such as 2024-05-01T12:00:00Z, or a resourceVersion'),
}

const DIFF_HELP = `Usage: binnacle diff --history KIND/NAME [flags]

Shows what changed in an object, when, and by which field manager, as far back as the server remembers.

Flags:
${printFlags(diffFlags)}
`

const GET_HELP = `Usage: binnacle get --at=TIME|VERSION KIND/NAME [flags]

Prints an object as YAML, as it was at a time or at a resourceVersion, as far back as the server remembers.

Flags:
${printFlags(getFlags)}
`

export const DIFF: Command = { run: args => withUsageErrors(() => diff(args)), help: () => DIFF_HELP }
export const GET: Command = { run: args => withUsageErrors(() => get(args)), help: () => GET_HELP }

async function diff(args: readonly string[]): Promise<void> {
  const { values, words } = parseArguments(args, diffFlags)
  if (!values.history)
    throw new UsageError('diff compares with the past of an object: binnacle diff --history KIND/NAME')
  const { server, resource, name } = await target(words, values)
  const revisions: Revision[] = []
  for await (const revision of revisionsOf(server, resource, name)) {
    revisions.push(revision)
    if (revisions.length > values.limit) break
  }
  if (revisions.length === 0) throw new UsageError(`there is no ${resource.kind} ${name}`)
  for (const { resourceVersion, time, managers, changes } of editsOf(revisions)) {
    console.log(`${time}  resourceVersion ${resourceVersion}  ${managers.join(', ')}`.trimEnd())
    for (const { field, before, after } of changes) console.log(`  ${field}: ${shown(before)} → ${shown(after)}`)
  }
}

const shown = (value: Value | undefined): string => (value === undefined ? '(none)' : encodeJson(value))

async function get(args: readonly string[]): Promise<void> {
  const { values, words } = parseArguments(args, getFlags)
  if (values.at === undefined)
    throw new UsageError('name the time or the resourceVersion: binnacle get --at=TIME|VERSION KIND/NAME')
  const { server, resource, name } = await target(words, values)
  const found = /^\d+$/.test(values.at)
    ? await objectAtVersion(server, resource, name, values.at)
    : await objectAtTime(server, resource, name, values.at)
  if (!found) throw new UsageError(`the server does not know ${resource.kind} ${name} at ${values.at}`)
  process.stdout.write(encodeYaml(found))
}

async function objectAtTime(
  server: LiveServer,
  resource: LiveResource,
  name: string,
  time: string,
): Promise<ValueObject | undefined> {
  const moment = Date.parse(time)
  if (Number.isNaN(moment))
    throw new UsageError(`--at=${time}: it must be a time such as 2024-05-01T12:00:00Z, or a resourceVersion`)
  for await (const revision of revisionsOf(server, resource, name)) {
    if (Date.parse(revision.time) <= moment) return revision.object
  }
  return undefined
}

async function target(
  words: readonly string[],
  { kubeconfig, namespace }: { readonly kubeconfig: string | undefined; readonly namespace: string },
) {
  const [kind = '', name = '', ...more] = words.length === 2 ? words : (words[0] ?? '').split('/')
  if (kind === '' || name === '' || more.length > 0) throw new UsageError('name one object: KIND/NAME')
  const server = connect(kubeconfig)
  const resource = await findResource(server, kind, namespace)
  if (!resource) throw new UsageError(`${server.url} does not have a resource type ${JSON.stringify(kind)}`)
  return { server, resource, name }
}
