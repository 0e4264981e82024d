// DenyServiceExternalIPs: Services get no new external IPs; an update may keep or remove those that there are.

import { objectAt, stringsAt } from '../../meta/values/access.js'
import { forbiddenBy } from '../attributes.js'
import type { AdmissionPlugin } from '../chain.js'

export const denyServiceExternalIPs: AdmissionPlugin = {
  name: 'DenyServiceExternalIPs',
  operations: new Set(['CREATE', 'UPDATE']),
  resources: ['services'],
  validate(attributes) {
    const { object, oldObject } = attributes
    const addresses = object ? stringsAt(objectAt(object, 'spec'), 'externalIPs') : []
    const before = new Set(oldObject ? stringsAt(objectAt(oldObject, 'spec'), 'externalIPs') : [])
    if (addresses.every(address => before.has(address))) return
    throw forbiddenBy(attributes, 'Use of external IPs is denied by admission control')
  },
}
