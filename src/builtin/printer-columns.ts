// The cells of each kind's Table, as kubectl shows them: one function for each kind that has columns of its own.
// Which columns there are is data; a cell that a kind has no function for is its name, its age, or empty.
import { numberAt, numberOrNone, objectAt, objectsAt, stringAt } from '../meta/values/access.js'
import { ageOf, nameOf, type TableRow } from './common/table-cells.js'
import { eventRow } from './core/event.js'
import { STORAGE_CELLS } from './storage-cells.js'

// ---- roles, the rest

const bindingCells: TableRow = (binding, now) => {
  const role = objectAt(binding, 'roleRef')
  const subjectsOf = (kind: string): string =>
    objectsAt(binding, 'subjects')
      .filter(subject => stringAt(subject, 'kind') === kind)
      .map(
        subject => (kind === 'ServiceAccount' ? `${stringAt(subject, 'namespace')}/` : '') + stringAt(subject, 'name'),
      )
      .join(', ')
  return [
    nameOf(binding),
    `${stringAt(role, 'kind')}/${stringAt(role, 'name')}`,
    ageOf(binding, now),
    subjectsOf('User'),
    subjectsOf('Group'),
    subjectsOf('ServiceAccount'),
  ]
}

const disruptionBudgetCells: TableRow = (budget, now) => {
  const count = (field: string): string => {
    const spec = objectAt(budget, 'spec')
    return stringAt(spec, field) || String(numberOrNone(spec, field) ?? 'N/A')
  }
  return [
    nameOf(budget),
    count('minAvailable'),
    count('maxUnavailable'),
    numberAt(objectAt(budget, 'status'), 'disruptionsAllowed'),
    ageOf(budget, now),
  ]
}

export const CELLS: Readonly<Record<string, TableRow | undefined>> = {
  'node.k8s.io/v1 runtimeclasses': (made, now) => [nameOf(made), stringAt(made, 'handler'), ageOf(made, now)],
  'scheduling.k8s.io/v1 priorityclasses': (made, now) => [
    nameOf(made),
    numberAt(made, 'value'),
    made['globalDefault'] === true,
    ageOf(made, now),
    stringAt(made, 'preemptionPolicy'),
  ],
  'events.k8s.io/v1 events': eventRow({
    object: 'regarding',
    controller: 'reportingController',
    message: 'note',
    source: 'deprecatedSource',
    first: 'deprecatedFirstTimestamp',
    last: 'deprecatedLastTimestamp',
    count: 'deprecatedCount',
  }),
  'coordination.k8s.io/v1 leases': (lease, now) => [
    nameOf(lease),
    stringAt(objectAt(lease, 'spec'), 'holderIdentity'),
    ageOf(lease, now),
  ],
  ...STORAGE_CELLS,
  'policy/v1 poddisruptionbudgets': disruptionBudgetCells,
  'rbac.authorization.k8s.io/v1 rolebindings': bindingCells,
  'rbac.authorization.k8s.io/v1 clusterrolebindings': bindingCells,
}
