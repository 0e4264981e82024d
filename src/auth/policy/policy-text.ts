// The notation of the tables of default roles. A role is its name, followed by a line for each rule:
//
//   name
//   - groups | resources | verbs | names of objects
//   - urls | paths | verbs
//   - events
//
// Lists are words between spaces, and a line that is indented further continues the one before. The group without a name
// is `core`; `read` and `write` stand for several verbs; `events` is the rule to record events, which most roles have.
import type { PolicyRule } from '../authz/rbac.js'

export interface NamedRules {
  readonly name: string
  readonly rules: readonly PolicyRule[]
}

const VERBS: Readonly<Record<string, readonly string[]>> = {
  read: ['get', 'list', 'watch'],
  write: ['create', 'delete', 'deletecollection', 'patch', 'update'],
}
const EVENTS = 'core events.k8s.io | events | create patch update'

export const parseRoles = (text: string): NamedRules[] =>
  text
    .trim()
    .split(/\n\s*\n/)
    .map(block => {
      const [name = '', ...lines] = block.split(/\n\s*- /)
      return { name: name.trim(), rules: lines.map(parseRule) }
    })

function parseRule(line: string): PolicyRule {
  const [groups = [], objects = [], verbs = [], names] = (line.trim() === 'events' ? EVENTS : line)
    .split('|')
    .map(part => part.trim().split(/\s+/))
  const sortedVerbs = verbs.flatMap(verb => VERBS[verb] ?? verb).toSorted()
  if (groups[0] === 'urls') return { verbs: sortedVerbs, nonResourceURLs: objects }
  return {
    verbs: sortedVerbs,
    apiGroups: groups.map(group => (group === 'core' ? '' : group)),
    resources: objects,
    ...(names && { resourceNames: names }),
  }
}
