// ComponentStatus: whether a part of the control plane answers. It is asked for each request and never stored.
import { objectsAt, stringAt } from '../../meta/values/access.js'
import { defineKind } from '../common/define-kind.js'
import { nameOf } from '../common/table-cells.js'

export const componentStatus = defineKind('v1', 'ComponentStatus', {
  strategy: { deprecationWarning: 'v1 ComponentStatus is deprecated in v1.19+' },
  table(object) {
    const healthy = objectsAt(object, 'conditions').find(condition => stringAt(condition, 'type') === 'Healthy')
    if (!healthy) return [nameOf(object), 'Unknown', '', '']
    const status = stringAt(healthy, 'status') === 'True' ? 'Healthy' : 'Unhealthy'
    return [nameOf(object), status, stringAt(healthy, 'message'), stringAt(healthy, 'error')]
  },
})
