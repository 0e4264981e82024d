// The issuers of an AuthenticationConfiguration: which of their tokens are accepted, and which user comes of a token. The
// messages are those of kube-apiserver, in its order.

import { X509Certificate } from 'node:crypto'
import {
  asTypedText,
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  fieldTooMany,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { parseReference } from '../../meta/go/go-url.js'
import { checkDomainPath } from '../../meta/object/domain-path.js'
import { objectAt, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import {
  type CompiledClaim,
  type CompiledExpression,
  compileClaimRule,
  compileMapping,
  compileUserRule,
  readsClaim,
} from './claim-expressions.js'

export interface JwtIssuer {
  readonly url: string
  /** Where its discovery document is, if that is not below its URL. */
  readonly discoveryUrl: string | undefined
  /** PEM: the authorities of the issuer's certificate; those of the system when absent. */
  readonly certificateAuthority: string | undefined
  /** A token must be for one of them. */
  readonly audiences: readonly string[]
  /** Empty if the issuer is called directly. */
  /** `controlplane`, `cluster`, or empty for an issuer that is called directly. */
  readonly egressSelectorType: string
  readonly username: ClaimSource
  readonly groups: ClaimSource | undefined
  readonly uid: ClaimSource | undefined
  readonly extra: readonly { readonly key: string; readonly value: CompiledExpression }[]
  /** Claims that must be there with these values. */
  readonly requiredClaims: ReadonlyMap<string, string>
  readonly claimRules: readonly ValidationRule[]
  readonly userRules: readonly ValidationRule[]
}

export type ClaimSource =
  | { readonly claim: string; readonly prefix: string }
  | { readonly claim?: undefined; readonly expression: CompiledExpression }

export interface ValidationRule {
  readonly rule: CompiledExpression
  readonly message: string
}

const MAX_ISSUERS = 64

export function checkIssuers(list: readonly ValueObject[]): { issuers: JwtIssuer[]; errors: FieldError[] } {
  if (list.length > MAX_ISSUERS) return { issuers: [], errors: [fieldTooMany('jwt', list.length, MAX_ISSUERS)] }
  const errors: FieldError[] = []
  const seen = { url: new Set<string>(), discoveryURL: new Set<string>() }
  const issuers = list.map((jwt, i) => {
    const path = indexPath('jwt', i)
    const read = readIssuer(jwt, path)
    errors.push(...read.errors)
    const issuer = objectAt(jwt, 'issuer')
    for (const name of ['url', 'discoveryURL'] as const) {
      const url = stringAt(issuer, name)
      if (url === '' && name === 'discoveryURL') continue
      if (seen[name].has(url)) errors.push(fieldDuplicate(`${path}.issuer.${name}`, url))
      seen[name].add(url)
    }
    return read.issuer
  })
  return { issuers, errors }
}

/** The issuer counts only if there are no errors. */
function readIssuer(jwt: ValueObject, path: string): { issuer: JwtIssuer; errors: FieldError[] } {
  const errors: FieldError[] = []
  const issuer = objectAt(jwt, 'issuer')
  const mappings = objectAt(jwt, 'claimMappings')
  errors.push(...checkIssuer(issuer, `${path}.issuer`))
  const rules = readClaimRules(objectsAt(jwt, 'claimValidationRules'), `${path}.claimValidationRules`, errors)
  const at = `${path}.claimMappings`
  const username = readPrefixed(objectAt(mappings, 'username'), `${at}.username`, true, errors)
  const groups = readPrefixed(objectAt(mappings, 'groups'), `${at}.groups`, false, errors)
  const uid = readUid(objectAt(mappings, 'uid'), `${at}.uid`, errors)
  const extra = readExtra(objectsAt(mappings, 'extra'), `${at}.extra`, errors)
  errors.push(...checkEmail(username, extra, rules.claimRules, `${at}.username.expression`))
  const userRules = readUserRules(objectsAt(jwt, 'userValidationRules'), `${path}.userValidationRules`, errors)
  return {
    errors,
    issuer: {
      url: stringAt(issuer, 'url'),
      discoveryUrl: stringAt(issuer, 'discoveryURL') || undefined,
      certificateAuthority: stringAt(issuer, 'certificateAuthority') || undefined,
      audiences: stringsAt(issuer, 'audiences'),
      egressSelectorType: stringAt(issuer, 'egressSelectorType'),
      username: username ?? { claim: '', prefix: '' },
      groups,
      uid,
      extra,
      ...rules,
      userRules,
    },
  }
}

// ---- the issuer itself

function checkIssuer(issuer: ValueObject, path: string): FieldError[] {
  const url = stringAt(issuer, 'url')
  const discoveryUrl = stringAt(issuer, 'discoveryURL')
  const at = (name: string): string => childPath(path, name)
  const errors = url === '' ? [fieldRequired(at('url'))] : checkUrl(url, at('url'))
  if (discoveryUrl !== '') {
    if (url !== '' && withoutSlashes(url) === withoutSlashes(discoveryUrl)) {
      errors.push(fieldInvalid(at('discoveryURL'), discoveryUrl, 'discoveryURL must be different from URL'))
    }
    errors.push(...checkUrl(discoveryUrl, at('discoveryURL')))
  }
  errors.push(...checkAudiences(stringsAt(issuer, 'audiences'), stringAt(issuer, 'audienceMatchPolicy'), path))
  errors.push(...checkAuthority(stringAt(issuer, 'certificateAuthority'), at('certificateAuthority')))
  errors.push(...checkEgress(stringAt(issuer, 'egressSelectorType'), at('egressSelectorType')))
  return errors
}

const withoutSlashes = (url: string): string => url.replace(/\/+$/, '')

function checkUrl(url: string, path: string): FieldError[] {
  const read = parseReference(url)
  if (!read.ok) return [fieldInvalid(path, url, read.error)]
  const { scheme, user, query, fragment } = read.value
  const texts = [
    scheme !== 'https' && 'URL scheme must be https',
    user !== '' && 'URL must not contain a username or password',
    query !== '' && 'URL must not contain a query',
    fragment !== '' && 'URL must not contain a fragment',
  ]
  return texts.filter(text => text !== false).map(text => fieldInvalid(path, url, text))
}

function checkAudiences(audiences: readonly string[], policy: string, path: string): FieldError[] {
  const at = childPath(path, 'audiences')
  if (audiences.length === 0) return [fieldRequired(at, `at least one ${at} is required`)]
  const errors: FieldError[] = []
  for (const [i, audience] of audiences.entries()) {
    if (audience === '') errors.push(fieldRequired(indexPath(at, i)))
    if (audiences.indexOf(audience) < i) errors.push(fieldDuplicate(indexPath(at, i), audience))
  }
  const policyPath = childPath(path, 'audienceMatchPolicy')
  if (policy === 'MatchAny') return errors
  if (audiences.length > 1) {
    const why = 'audienceMatchPolicy must be MatchAny for multiple audiences'
    errors.push(fieldInvalid(policyPath, asTypedText(policy), why))
  } else if (policy !== '') {
    const why = 'audienceMatchPolicy must be empty or MatchAny for single audience'
    errors.push(fieldInvalid(policyPath, asTypedText(policy), why))
  }
  return errors
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

function checkAuthority(pem: string, path: string): FieldError[] {
  if (pem === '') return []
  const blocks = pem.match(CERTIFICATE) ?? []
  try {
    return blocks.map(block => new X509Certificate(block)).length > 0 ? [] : [noCertificates(path)]
  } catch (error) {
    return [fieldInvalid(path, '<omitted>', error instanceof Error ? error.message : String(error))]
  }
}

const noCertificates = (path: string): FieldError =>
  fieldInvalid(path, '<omitted>', 'data does not contain any valid RSA or ECDSA certificates')

function checkEgress(type: string, path: string): FieldError[] {
  if (type === '' || type === 'controlplane' || type === 'cluster') return []
  return [fieldInvalid(path, asTypedText(type), 'egress selector must be either controlplane or cluster')]
}

// ---- claims

const BOTH = "claim and expression can't both be set"

function readPrefixed(
  mapping: ValueObject,
  path: string,
  isRequired: boolean,
  errors: FieldError[],
): ClaimSource | undefined {
  const claim = stringAt(mapping, 'claim')
  const text = stringAt(mapping, 'expression')
  const prefix = mapping['prefix']
  if (claim !== '' && text !== '') errors.push(fieldInvalid(path, '', BOTH))
  else if (text !== '') {
    if (typeof prefix === 'string') {
      errors.push(fieldInvalid(childPath(path, 'prefix'), prefix, 'may not be specified when expression is set'))
    }
    const expression = taken(compileMapping(text), text, childPath(path, 'expression'), errors)
    return expression && { expression }
  } else if (claim !== '') {
    if (typeof prefix === 'string') return { claim, prefix }
    const why = 'prefix is required when claim is set. It can be set to an empty string to disable prefixing'
    errors.push(fieldRequired(childPath(path, 'prefix'), why))
  } else if (isRequired) errors.push(fieldRequired(path, 'claim or expression is required'))
  return undefined
}

function readUid(mapping: ValueObject, path: string, errors: FieldError[]): ClaimSource | undefined {
  const claim = stringAt(mapping, 'claim')
  const text = stringAt(mapping, 'expression')
  if (claim !== '' && text !== '') {
    errors.push(fieldInvalid(path, '', BOTH))
    return undefined
  }
  if (claim !== '') return { claim, prefix: '' }
  if (text === '') return undefined
  const expression = taken(compileMapping(text), text, childPath(path, 'expression'), errors)
  return expression && { expression }
}

function readExtra(list: readonly ValueObject[], path: string, errors: FieldError[]): JwtIssuer['extra'] {
  const seen = new Set<string>()
  return list.flatMap((mapping, i) => {
    const at = indexPath(path, i)
    const keyPath = childPath(at, 'key')
    const key = stringAt(mapping, 'key')
    errors.push(...checkDomainPath(key, keyPath))
    if (key !== key.toLowerCase()) errors.push(fieldInvalid(keyPath, key, 'must be lowercase'))
    if (isReservedDomain(key)) {
      const why = 'k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use'
      errors.push(fieldInvalid(keyPath, key, why))
    }
    if (seen.has(key)) {
      errors.push(fieldDuplicate(keyPath, key))
      return []
    }
    seen.add(key)
    const text = stringAt(mapping, 'valueExpression')
    if (text === '') {
      errors.push(fieldRequired(childPath(at, 'valueExpression')))
      return []
    }
    const value = taken(compileMapping(text), text, childPath(at, 'valueExpression'), errors)
    return value ? [{ key, value }] : []
  })
}

function isReservedDomain(key: string): boolean {
  const slash = key.indexOf('/')
  const domain = slash < 0 ? '' : key.slice(0, slash)
  return ['kubernetes.io', 'k8s.io'].some(own => domain === own || domain.endsWith(`.${own}`))
}

/** An address that has not been verified must not become the name of a user. */
function checkEmail(
  username: ClaimSource | undefined,
  extra: JwtIssuer['extra'],
  rules: readonly ValidationRule[],
  path: string,
): FieldError[] {
  if (!username || username.claim !== undefined || !readsClaim(username.expression, 'email')) return []
  const readers = [username.expression, ...extra.map(({ value }) => value), ...rules.map(({ rule }) => rule)]
  if (readers.some(reader => readsClaim(reader, 'email_verified'))) return []
  const why =
    'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression'
  return [fieldInvalid(path, username.expression.expression, why)]
}

// ---- rules

function readClaimRules(
  list: readonly ValueObject[],
  path: string,
  errors: FieldError[],
): Pick<JwtIssuer, 'requiredClaims' | 'claimRules'> {
  const requiredClaims = new Map<string, string>()
  const claimRules: ValidationRule[] = []
  const seen = new Set<string>()
  for (const [i, rule] of list.entries()) {
    const at = indexPath(path, i)
    const refuse = (name: string, why: string): void => {
      const value = stringAt(rule, name)
      if (value !== '') errors.push(fieldInvalid(childPath(at, name), value, why))
    }
    const claim = stringAt(rule, 'claim')
    const text = stringAt(rule, 'expression')
    if (claim !== '' && text !== '') errors.push(fieldInvalid(at, claim, BOTH))
    else if (claim !== '') {
      refuse('message', 'may not be specified when claim is set')
      if (requiredClaims.has(claim)) errors.push(fieldDuplicate(childPath(at, 'claim'), claim))
      requiredClaims.set(claim, stringAt(rule, 'requiredValue'))
    } else if (text !== '') {
      refuse('requiredValue', 'may not be specified when expression is set')
      claimRules.push(...readRule(rule, text, at, seen, compileClaimRule, errors))
    } else errors.push(fieldRequired(at, 'claim or expression is required'))
  }
  return { requiredClaims, claimRules }
}

function readUserRules(list: readonly ValueObject[], path: string, errors: FieldError[]): ValidationRule[] {
  const seen = new Set<string>()
  return list.flatMap((rule, i) => {
    const at = indexPath(path, i)
    const text = stringAt(rule, 'expression')
    if (text !== '') return readRule(rule, text, at, seen, compileUserRule, errors)
    errors.push(fieldRequired(childPath(at, 'expression')))
    return []
  })
}

function readRule(
  rule: ValueObject,
  text: string,
  path: string,
  seen: Set<string>,
  compileText: (text: string) => CompiledClaim,
  errors: FieldError[],
): ValidationRule[] {
  const at = childPath(path, 'expression')
  if (seen.has(text)) {
    errors.push(fieldDuplicate(at, text))
    return []
  }
  seen.add(text)
  const compiled = taken(compileText(text), text, at, errors)
  return compiled ? [{ rule: compiled, message: stringAt(rule, 'message') }] : []
}

function taken(
  compiled: CompiledClaim,
  text: string,
  path: string,
  errors: FieldError[],
): CompiledExpression | undefined {
  if (compiled.error === undefined) return compiled
  errors.push(fieldInvalid(path, text, compiled.error))
  return undefined
}
