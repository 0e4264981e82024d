// ServiceAccount.
import { objectsAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { inTurn, keepGeneration } from '../common/strategies.js'
import { validationRules } from '../common/validation.js'

/** Of the references to secrets only the names are kept. */
function keepSecretNames(account: ValueObject): void {
  if (!Array.isArray(account['secrets'])) return
  account['secrets'] = objectsAt(account, 'secrets').map(
    ({ name }): ValueObject => (name === undefined ? {} : { name }),
  )
}

const rules = [metadata({ namespaced: true })]

export const serviceAccount = defineKind('v1', 'ServiceAccount', {
  strategy: {
    prepareForCreate: keepSecretNames,
    prepareForUpdate: inTurn(keepGeneration, keepSecretNames),
    returnsDeletedObject: true,
  },
  validation: validationRules({ create: rules, update: [metadataUpdate, ...rules] }),
})
