// The rows of the kinds of the network.

import { has, numberAt, objectAt, objectOrNone, objectsAt, stringAt, stringsAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'
import { selectorCell } from './apps/pod-owner.js'
import { ageOf, NONE, nameOf, type TableRow } from './common/table-cells.js'

/** How many ports or endpoints a cell shows. */
const MAX_SHOWN = 3

function printSome(texts: readonly string[]): string {
  if (texts.length === 0) return '<unset>'
  const shown = texts.slice(0, MAX_SHOWN).join(',')
  return texts.length > MAX_SHOWN ? `${shown} + ${texts.length - MAX_SHOWN} more...` : shown
}

const portText = (port: ValueObject): string =>
  has(port, 'port') ? String(numberAt(port, 'port')) : has(port, 'name') ? stringAt(port, 'name') : '*'

const endpointSliceCells: TableRow = (slice, now) => [
  nameOf(slice),
  stringAt(slice, 'addressType'),
  printSome(objectsAt(slice, 'ports').map(portText)),
  printSome(objectsAt(slice, 'endpoints').flatMap(endpoint => stringsAt(endpoint, 'addresses'))),
  ageOf(slice, now),
]

function parametersCell(spec: ValueObject): string {
  const parameters = objectOrNone(spec, 'parameters')
  if (parameters === undefined) return NONE
  const group = has(parameters, 'apiGroup') ? `.${stringAt(parameters, 'apiGroup')}` : ''
  return `${stringAt(parameters, 'kind')}${group}/${stringAt(parameters, 'name')}`
}

export const NETWORK_CELLS: Readonly<Record<string, TableRow>> = {
  'discovery.k8s.io/v1 endpointslices': endpointSliceCells,
  'networking.k8s.io/v1 networkpolicies': (policy, now) => [
    nameOf(policy),
    selectorCell(objectAt(policy, 'spec'), 'podSelector'),
    ageOf(policy, now),
  ],
  'networking.k8s.io/v1 ingressclasses': (made, now) => {
    const spec = objectAt(made, 'spec')
    return [nameOf(made), stringAt(spec, 'controller'), parametersCell(spec), ageOf(made, now)]
  },
}
