// Completes label and field selectors: names first, then the values that the objects in sight have.
import type { Suggestion } from '../../ui/suggest.js'

/** Names with their values, each with the number of objects that have it. */
export type KnownValues = ReadonlyMap<string, ReadonlyMap<string, number>>

export function countLabels(
  objects: Iterable<{ metadata: { labels?: Readonly<Record<string, string>> } }>,
): KnownValues {
  const found = new Map<string, Map<string, number>>()
  for (const { metadata } of objects) {
    for (const [name, value] of Object.entries(metadata.labels ?? {})) {
      const counts = found.get(name) ?? new Map<string, number>()
      found.set(name, counts)
      counts.set(value, (counts.get(value) ?? 0) + 1)
    }
  }
  return found
}

export function completeLabels(text: string, known: KnownValues): readonly Suggestion[] {
  const start = termStart(text)
  const before = text.slice(0, start)
  const term = text.slice(start)
  const inList = /^\s*(\S+)\s+(?:not)?in\s*\((?:[^()]*,)?\s*([^(),]*)$/.exec(term)
  if (inList) return values(known, inList[1]!, inList[2]!, text.slice(0, text.length - inList[2]!.length))
  const equality = /^\s*([^\s=!]+)\s*(?:==?|!=)\s*([^=]*)$/.exec(term)
  if (equality) return values(known, equality[1]!, equality[2]!, text.slice(0, text.length - equality[2]!.length))
  const negated = /^\s*!/.test(term)
  const typed = term.trim().replace(/^!/, '')
  const prefix = `${before}${before === '' ? '' : ' '}`.replace(/\s+$/, ' ').trimStart()
  return [...known]
    .filter(([name]) => name.includes(typed))
    .map(([name, each]) => ({
      text: `${prefix}${negated ? `!${name}` : `${name}=`}`,
      label: name,
      note: `${each.size} value${each.size === 1 ? '' : 's'}`,
    }))
}

export function completeFields(text: string, fields: readonly string[]): readonly Suggestion[] {
  const start = text.lastIndexOf(',') + 1
  const typed = text.slice(start).trim()
  // Values of fields are not in a Table.
  if (typed.includes('=')) return []
  const prefix = text.slice(0, start)
  return fields.filter(field => field.includes(typed)).map(field => ({ text: `${prefix}${field}=`, label: field }))
}

function values(known: KnownValues, name: string, typed: string, prefix: string): readonly Suggestion[] {
  return [...(known.get(name) ?? [])]
    .filter(([value]) => value.includes(typed) && value !== typed)
    .toSorted(([, a], [, b]) => b - a)
    .map(([value, count]) => ({ text: prefix + value, label: value === '' ? '(empty)' : value, note: String(count) }))
}

/** After the last comma that is not between parentheses. */
function termStart(text: string): number {
  let depth = 0
  let start = 0
  for (let index = 0; index < text.length; index++) {
    const character = text[index]
    if (character === '(') depth++
    else if (character === ')') depth--
    else if (character === ',' && depth === 0) start = index + 1
  }
  return start
}

const ALWAYS = ['metadata.name', 'metadata.namespace']

/** The fields of built-in resources that can be selected by, beside name and namespace. */
const SELECTABLE: Readonly<Record<string, readonly string[]>> = {
  pods: [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork',
    'status.phase',
    'status.podIP',
    'status.nominatedNodeName',
  ],
  events: [
    'involvedObject.kind',
    'involvedObject.name',
    'involvedObject.namespace',
    'involvedObject.uid',
    'involvedObject.apiVersion',
    'involvedObject.fieldPath',
    'reason',
    'reportingComponent',
    'source',
    'type',
  ],
  namespaces: ['status.phase'],
  nodes: ['spec.unschedulable'],
  secrets: ['type'],
  services: ['spec.clusterIP', 'spec.type'],
  replicasets: ['status.replicas'],
  replicationcontrollers: ['status.replicas'],
  jobs: ['status.successful'],
  certificatesigningrequests: ['spec.signerName'],
}

export const selectableFields = (
  { name, namespaced }: { name: string; namespaced: boolean },
  declared: readonly string[],
): readonly string[] => [
  ...ALWAYS.filter(field => namespaced || field !== 'metadata.namespace'),
  ...(SELECTABLE[name] ?? []),
  ...declared,
]
