// The two priority classes of the system cannot be deleted by name. kube-apiserver checks this in the storage of the
// resource, which a deletecollection does not pass through.

import { findSystemClass } from '../../builtin/priority-classes.js'
import { forbiddenBy } from '../attributes.js'
import type { AdmissionPlugin } from '../chain.js'

export const systemPriorityClasses: AdmissionPlugin = {
  name: 'SystemPriorityClasses',
  operations: new Set(['DELETE']),
  resources: ['priorityclasses.scheduling.k8s.io'],
  validate(attributes) {
    if (!findSystemClass(attributes.name) || attributes.request.info.verb === 'deletecollection') return
    throw forbiddenBy(attributes, 'this is a system priority class and cannot be deleted')
  },
}
