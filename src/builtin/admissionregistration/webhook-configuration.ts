// What validating and mutating webhook configurations have in common.

import {
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { checkDns1035Label, checkDnsSubdomain } from '../../meta/object/names.js'
import { checkLabelSelector } from '../../meta/selectors/label-selectors.js'
import {
  has,
  numberOrNone,
  objectAt,
  objectOrNone,
  objectsAt,
  setDefault,
  stringAt,
  stringsAt,
} from '../../meta/values/access.js'
import { repeatsOf } from '../../meta/values/list-keys.js'
import type { ValueObject } from '../../meta/values/value.js'
import { checkClientConfig } from '../../webhook/check-client-config.js'
import type { ClientConfig } from '../../webhook/client-config.js'
import type { KindParts } from '../common/define-kind.js'
import { checkOneOf, checkText } from '../common/field-checks.js'
import { metadata } from '../common/metadata.js'
import { check } from '../common/rules.js'
import { countExactChanges, inTurn, keepGeneration, startGeneration } from '../common/strategies.js'
import { ageOf, nameOf } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { checkMatchConditions, checkRules, defaultMatching } from './matching.js'

/** The parts of a kind whose objects hold webhooks. */
export function webhookConfiguration({ isMutating }: { readonly isMutating: boolean }): KindParts {
  const rules = [
    metadata({ namespaced: false, knownFinalizers: false }),
    check(configuration => checkWebhooks(configuration, isMutating)),
  ]
  return {
    defaults: configuration => {
      for (const webhook of objectsAt(configuration, 'webhooks')) defaultWebhook(webhook, isMutating)
    },
    strategy: {
      prepareForCreate: startGeneration,
      prepareForUpdate: inTurn(keepGeneration, countExactChanges('webhooks')),
      allowUnconditionalUpdate: false,
    },
    validation: validationRules({ create: rules, update: rules }),
    table: (configuration, now) => [
      nameOf(configuration),
      objectsAt(configuration, 'webhooks').length,
      ageOf(configuration, now),
    ],
  }
}

function defaultWebhook(webhook: ValueObject, isMutating: boolean): void {
  defaultMatching(webhook)
  setDefault(webhook, 'failurePolicy', 'Fail', false)
  setDefault(webhook, 'timeoutSeconds', 10, false)
  const service = objectOrNone(objectAt(webhook, 'clientConfig'), 'service')
  if (service !== undefined) setDefault(service, 'port', 443, false)
  if (isMutating) setDefault(webhook, 'reinvocationPolicy', 'Never', false)
}

function checkWebhooks(configuration: ValueObject, isMutating: boolean): FieldError[] {
  const names = new Set<string>()
  return objectsAt(configuration, 'webhooks').flatMap((webhook, i) => {
    const path = indexPath('webhooks', i)
    const name = stringAt(webhook, 'name')
    const repeated = name !== '' && names.has(name) ? [fieldDuplicate(`${path}.name`, name)] : []
    names.add(name)
    return checkWebhook(webhook, path, isMutating).concat(repeated)
  })
}

const SIDE_EFFECTS = ['None', 'NoneOnDryRun']
const MAX_SECONDS = 30

function checkWebhook(webhook: ValueObject, path: string, isMutating: boolean): FieldError[] {
  const at = (field: string): string => childPath(path, field)
  const optional = (field: string, supported: readonly string[]): FieldError[] =>
    has(webhook, field) ? checkOneOf(stringAt(webhook, field), supported, at(field)) : []
  const seconds = numberOrNone(webhook, 'timeoutSeconds')
  return [
    ...checkWebhookName(stringAt(webhook, 'name'), at('name')),
    ...checkRules(webhook, 'rules', path),
    ...optional('failurePolicy', ['Fail', 'Ignore']),
    ...optional('matchPolicy', ['Equivalent', 'Exact']),
    ...(has(webhook, 'sideEffects')
      ? optional('sideEffects', SIDE_EFFECTS)
      : [fieldRequired(at('sideEffects'), `must specify one of ${SIDE_EFFECTS.join(', ')}`)]),
    ...(seconds !== undefined && (seconds < 1 || seconds > MAX_SECONDS)
      ? [fieldInvalid(at('timeoutSeconds'), seconds, `the timeout value must be between 1 and ${MAX_SECONDS} seconds`)]
      : []),
    ...['namespaceSelector', 'objectSelector'].flatMap(field => {
      const selector = objectOrNone(webhook, field)
      return selector === undefined ? [] : checkLabelSelector(selector, at(field))
    }),
    ...(isMutating ? optional('reinvocationPolicy', ['IfNeeded', 'Never']) : []),
    ...checkClientConfig(clientConfigOf(objectAt(webhook, 'clientConfig')), at('clientConfig')),
    ...checkMatchConditions(webhook, path, { authorizer: true }),
    ...checkReviewVersions(stringsAt(webhook, 'admissionReviewVersions'), at('admissionReviewVersions')),
  ]
}

function clientConfigOf(config: ValueObject): ClientConfig {
  const service = objectOrNone(config, 'service')
  return {
    ...(has(config, 'url') && { url: stringAt(config, 'url') }),
    ...(service !== undefined && {
      service: {
        namespace: stringAt(service, 'namespace'),
        name: stringAt(service, 'name'),
        path: stringAt(service, 'path'),
        port: numberOrNone(service, 'port'),
      },
    }),
  }
}

/** A domain name, so that webhooks of different vendors have different names. */
function checkWebhookName(name: string, path: string): FieldError[] {
  if (name === '') return [fieldRequired(path)]
  const errors = checkDnsSubdomain(name)
  if (errors.length > 0) return [fieldInvalid(path, name, errors.join(','))]
  return name.split('.').length < 3
    ? [fieldInvalid(path, name, 'should be a domain with at least three segments separated by dots')]
    : []
}

const REVIEW_VERSIONS = ['v1', 'v1beta1']

function checkReviewVersions(versions: readonly string[], path: string): FieldError[] {
  const known = REVIEW_VERSIONS.join(', ')
  if (versions.length === 0) return [fieldRequired(path, `must specify one of ${known}`)]
  const repeats = repeatsOf(versions)
  const errors = versions.flatMap((version, i) =>
    repeats.has(i)
      ? [fieldInvalid(indexPath(path, i), version, 'duplicate version')]
      : checkText(version, checkDns1035Label, indexPath(path, i)),
  )
  return versions.some(version => REVIEW_VERSIONS.includes(version))
    ? errors
    : [...errors, fieldInvalid(path, [...versions], `must include at least one of ${known}`)]
}
