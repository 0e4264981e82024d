// How objects are converted between versions: by nothing at all, or by a webhook that can be reached.

import {
  asString,
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { checkDns1035Label } from '../../meta/object/names.js'
import { repeatsOf } from '../../meta/values/list-keys.js'
import type { Value } from '../../meta/values/value.js'
import { checkCaBundle, checkClientConfig } from '../../webhook/check-client-config.js'
import type { ConversionSpec } from '../definition.js'

const STRATEGIES = ['None', 'Webhook']
const REVIEW_VERSIONS = ['v1', 'v1beta1']

export interface ConversionChecks {
  /** At least one of the review versions must be known here. */
  readonly needsKnownReview: boolean
  /** Certificates must be readable. */
  readonly needsUsableCa: boolean
}

export function checkConversion(conversion: ConversionSpec, path: string, checks: ConversionChecks): FieldError[] {
  const { strategy, webhook } = conversion
  const errors: FieldError[] = []
  if (strategy === '') errors.push(fieldRequired(childPath(path, 'strategy')))
  else if (!STRATEGIES.includes(strategy)) {
    errors.push(fieldNotSupported(childPath(path, 'strategy'), asString(strategy), STRATEGIES))
  }
  const configPath = childPath(path, 'webhookClientConfig')
  const versionsPath = childPath(path, 'conversionReviewVersions')
  const config = webhook?.clientConfig
  const versions = webhook?.conversionReviewVersions ?? []
  if (strategy === 'Webhook') {
    if (config) {
      errors.push(...checkClientConfig(config, configPath))
      if (checks.needsUsableCa) errors.push(...checkCaBundle(config.caBundle ?? '', childPath(configPath, 'caBundle')))
    } else errors.push(fieldRequired(configPath, 'required when strategy is set to Webhook'))
    return [...errors, ...checkReviewVersions(versions, versionsPath, checks)]
  }
  const why = 'should not be set when strategy is not set to Webhook'
  if (config) errors.push(fieldForbidden(configPath, why))
  if (versions.length > 0) errors.push(fieldForbidden(versionsPath, why))
  return errors
}

export const hasKnownReview = (versions: readonly string[]): boolean =>
  versions.some(version => REVIEW_VERSIONS.includes(version))

function checkReviewVersions(
  versions: readonly string[],
  path: string,
  { needsKnownReview }: ConversionChecks,
): FieldError[] {
  if (versions.length === 0) return [fieldRequired(path)]
  const repeats = repeatsOf(versions)
  const errors = versions.flatMap((version, i) => {
    const at = indexPath(path, i)
    if (repeats.has(i)) return [fieldInvalid(at, version, 'duplicate version')]
    return checkDns1035Label(version).map(error => fieldInvalid(at, version, error))
  })
  if (needsKnownReview && !hasKnownReview(versions)) {
    errors.push(fieldInvalid(path, versions as Value, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`))
  }
  return errors
}
