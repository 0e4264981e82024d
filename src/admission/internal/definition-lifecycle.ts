// No object is created while the CustomResourceDefinition of its kind is being deleted.

import { forbidden } from '../../meta/errors/status.js'
import type { AdmissionPlugin } from '../chain.js'

export const definitionLifecycle: AdmissionPlugin = {
  name: 'CustomResourceDefinitionLifecycle',
  operations: new Set(['CREATE']),
  validate({ storedKind, resource, name }) {
    // A kind whose definition is being deleted no longer has the verb.
    if (!storedKind || storedKind.verbs.includes('create')) return
    throw forbidden(resource, name, 'create not allowed while custom resource definition is terminating')
  },
}
