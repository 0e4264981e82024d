// The configuration of PodSecurity: the policy of namespaces without labels, and what is exempt from all policies.
import { UsageError } from '../../../base/usage-error.js'
import { type FieldError, fieldDuplicate, fieldInvalid, printFieldErrors } from '../../../meta/errors/field-errors.js'
import { checkDnsLabel, checkDnsSubdomain, type NameRule } from '../../../meta/object/names.js'
import { objectAt, stringAt, stringsAt } from '../../../meta/values/access.js'
import type { ValueObject } from '../../../meta/values/value.js'
import { type LevelVersion, MODES, type Policy, PRIVILEGED, parseLevel, parseVersion } from './policy.js'

export interface PodSecurityConfiguration {
  readonly defaults: Policy
  readonly exemptions: {
    readonly usernames: ReadonlySet<string>
    readonly namespaces: ReadonlySet<string>
    readonly runtimeClasses: ReadonlySet<string>
  }
}

export const NO_EXEMPTIONS: PodSecurityConfiguration = {
  defaults: PRIVILEGED,
  exemptions: { usernames: new Set(), namespaces: new Set(), runtimeClasses: new Set() },
}

/** Throws a UsageError. */
export function readPodSecurity(document: ValueObject): PodSecurityConfiguration {
  const defaults = readDefaults(objectAt(document, 'defaults'))
  const exemptions = objectAt(document, 'exemptions')
  const errors: FieldError[] = []
  const read = (field: string, check: NameRule): ReadonlySet<string> =>
    readNames(`exemptions.${field}`, stringsAt(exemptions, field), check, errors)
  const namespaces = read('namespaces', checkDnsLabel)
  const runtimeClasses = read('runtimeClasses', checkDnsSubdomain)
  const usernames = read('usernames', name => (name === '' ? ['username must not be empty'] : []))
  if (errors.length > 0) throw wrong(printFieldErrors(errors))
  return { defaults, exemptions: { usernames, namespaces, runtimeClasses } }
}

const wrong = (why: string): UsageError => new UsageError(`PodSecurity configuration error: ${why}`)

function readDefaults(document: ValueObject): Policy {
  const errors: string[] = []
  const keep = <T>(field: string, parsed: T | string, otherwise: T): T => {
    if (typeof parsed !== 'string') return parsed
    errors.push(`${field}: ${parsed}`)
    return otherwise
  }
  const modes = MODES.map((mode): [keyof Policy, LevelVersion] => {
    const { level } = keep(mode, parseLevel(stringAt(document, mode) || 'privileged'), PRIVILEGED.enforce)
    const version = `${mode}-version`
    const { minor } = keep(version, parseVersion(stringAt(document, version) || 'latest'), PRIVILEGED.enforce)
    return [mode, { level, minor }]
  })
  if (errors.length > 0) throw wrong(errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]`)
  return Object.fromEntries(modes) as unknown as Policy
}

function readNames(path: string, names: readonly string[], check: NameRule, errors: FieldError[]): ReadonlySet<string> {
  const valid = new Set<string>()
  for (const [i, name] of names.entries()) {
    const reasons = check(name)
    if (reasons.length > 0) errors.push(fieldInvalid(`${path}[${i}]`, name, reasons.join(', ')))
    else if (valid.has(name)) errors.push(fieldDuplicate(`${path}[${i}]`, name))
    else valid.add(name)
  }
  return valid
}
