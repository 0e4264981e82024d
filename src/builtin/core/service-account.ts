// ServiceAccount.
import { has, objectAt, objectsAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { defineKind, type Warnings } from '../common/define-kind.js'
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

const ENFORCE_MOUNTABLE = 'kubernetes.io/enforce-mountable-secrets'

const hasEnforcement = (account: ValueObject): boolean =>
  has(objectAt(objectAt(account, 'metadata'), 'annotations'), ENFORCE_MOUNTABLE)

/** An update that keeps the annotation has no warning. */
const warnings: Warnings = (account, old) =>
  hasEnforcement(account) && !(old !== undefined && hasEnforcement(old))
    ? [
        `metadata.annotations[${ENFORCE_MOUNTABLE}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
      ]
    : []

const rules = [metadata({ namespaced: true })]

export const serviceAccount = defineKind('v1', 'ServiceAccount', {
  strategy: {
    prepareForCreate: keepSecretNames,
    prepareForUpdate: inTurn(keepGeneration, keepSecretNames),
    returnsDeletedObject: true,
  },
  validation: validationRules({ create: rules, update: [metadataUpdate, ...rules] }),
  warnings,
})
