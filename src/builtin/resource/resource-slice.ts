// ResourceSlice: the devices of a node or of a network, as a driver publishes them.
import { objectAt, stringAt } from '../../meta/values/access.js'
import { defineKind } from '../common/define-kind.js'
import { specOnly } from '../common/strategies.js'
import { ageOf, nameOf } from '../common/table-cells.js'

export const resourceSlice = defineKind('resource.k8s.io/v1', 'ResourceSlice', {
  strategy: { ...specOnly, returnsDeletedObject: true },
  table: (slice, now) => {
    const spec = objectAt(slice, 'spec')
    const pool = stringAt(objectAt(spec, 'pool'), 'name')
    return [nameOf(slice), stringAt(spec, 'nodeName'), stringAt(spec, 'driver'), pool, ageOf(slice, now)]
  },
})
