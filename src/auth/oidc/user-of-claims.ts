// The user that the claims of a verified token describe, if all rules of its issuer allow it.

import { type Value as CelValue, isList, itemAt, sizeOfList } from '../../cel/index.js'
import { jsonTypeOf } from '../../meta/go/go-text.js'
import { getOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import type { UserInfo } from '../../request/user-info.js'
import type { ClaimSource, JwtIssuer, ValidationRule } from './check-issuers.js'
import { type CompiledExpression, evaluateClaims, evaluateUser } from './claim-expressions.js'

const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id'

/** Throws an Error that says what is wrong with the claims. */
export function userOfClaims(issuer: JwtIssuer, claims: ValueObject): UserInfo {
  const user: UserInfo = {
    name: usernameOf(issuer.username, claims),
    groups: issuer.groups ? groupsOf(issuer.groups, claims) : [],
    uid: issuer.uid ? uidOf(issuer.uid, claims) : '',
    extra: extraOf(issuer.extra, claims),
  }
  checkRequired(issuer.requiredClaims, claims)
  const claimWords = 'error evaluating claim validation expression'
  checkRules(issuer.claimRules, claimWords, rule => evaluateClaims(rule, claims))
  const userWords = 'error evaluating user info validation rule'
  checkRules(issuer.userRules, userWords, rule => evaluateUser(rule, user))
  return user
}

function usernameOf(source: ClaimSource, claims: ValueObject): string {
  if (source.claim === undefined) {
    const name = textOf(source.expression, claims, 'username')
    if (name === '') throw new Error('oidc: empty username via CEL expression is not allowed')
    return name
  }
  const { claim, prefix } = source
  const name = stringClaim(claims, claim, `parse username claims ${JSON.stringify(claim)}`)
  if (claim === 'email') checkVerified(getOwn(claims, 'email_verified'))
  return prefix + name
}

/** An address that its issuer has not verified could be that of another user. */
function checkVerified(verified: Value | undefined): void {
  if (verified === undefined || verified === true) return
  if (typeof verified === 'boolean' || verified === null) throw new Error('oidc: email not verified')
  throw new Error(`oidc: parse 'email_verified' claim: ${cannotDecode(verified, 'bool')}`)
}

function groupsOf(source: ClaimSource, claims: ValueObject): readonly string[] {
  if (source.claim === undefined) {
    const words = 'oidc: error evaluating group claim expression: '
    return textsOf(evaluated(source.expression, claims, words), words)
  }
  const { claim, prefix } = source
  const value = getOwn(claims, claim)
  if (value === undefined || value === null) return []
  const groups = Array.isArray(value) ? value : [value]
  return groups.map(group => {
    if (typeof group === 'string') return prefix + group
    throw new Error(`oidc: parse groups claim ${JSON.stringify(claim)}: ${cannotDecode(value, 'string')}`)
  })
}

function uidOf(source: ClaimSource, claims: ValueObject): string {
  if (source.claim === undefined) return textOf(source.expression, claims, 'uid')
  return stringClaim(claims, source.claim, `parse uid claim ${JSON.stringify(source.claim)}`)
}

function extraOf(mappings: JwtIssuer['extra'], claims: ValueObject): UserInfo['extra'] {
  const extra: Record<string, readonly string[]> = {}
  const id = getOwn(claims, 'jti')
  if (typeof id === 'string' && id !== '') extra[CREDENTIAL_ID] = [`JTI=${id}`]
  for (const { key, value } of mappings) {
    const words = `oidc: error evaluating extra claim expression: ${value.expression}: `
    const texts = textsOf(evaluated(value, claims, ''), words)
    if (texts.length > 0) extra[key] = texts
  }
  return extra
}

function checkRequired(required: JwtIssuer['requiredClaims'], claims: ValueObject): void {
  for (const [claim, wanted] of required) {
    if (getOwn(claims, claim) === undefined) throw new Error(`oidc: required claim ${claim} not present in ID token`)
    const given = stringClaim(claims, claim, `parse claim ${claim}`)
    if (given !== wanted) {
      throw new Error(`oidc: required claim ${claim} value does not match. Got = ${given}, want = ${wanted}`)
    }
  }
}

/** All of them are evaluated before the first that is false is reported. */
function checkRules(
  rules: readonly ValidationRule[],
  words: string,
  evaluate: (rule: CompiledExpression) => ReturnType<typeof evaluateClaims>,
): void {
  const results = rules.map(each => ({ ...each, ...evaluate(each.rule) }))
  for (const { error } of results) if (error !== undefined) throw new Error(`oidc: ${words}: ${error}`)
  for (const result of results) {
    if ('value' in result && result.value === true) continue
    const { expression } = result.rule
    throw new Error(`oidc: ${words}: validation expression '${expression}' failed: ${result.message}`)
  }
}

// ---- values

function stringClaim(claims: ValueObject, claim: string, words: string): string {
  const value = getOwn(claims, claim)
  if (value === undefined) throw new Error(`oidc: ${words}: claim not present`)
  if (value === null) return ''
  if (typeof value !== 'string') throw new Error(`oidc: ${words}: ${cannotDecode(value, 'string')}`)
  return value
}

const cannotDecode = (value: Value, type: string): string =>
  `json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type ${type}`

function evaluated(expression: CompiledExpression, claims: ValueObject, words: string): CelValue {
  const result = evaluateClaims(expression, claims)
  if (result.error !== undefined) throw new Error(`${words}${result.error}`)
  return result.value
}

function textOf(expression: CompiledExpression, claims: ValueObject, what: string): string {
  const words = `oidc: error evaluating ${what} claim expression: `
  const value = evaluated(expression, claims, words)
  if (typeof value !== 'string') throw new Error(`${words}${what} claim expression must return a string`)
  return value
}

/** A text, a list of texts or nothing. Empty texts are left out. */
function textsOf(value: CelValue, words: string): readonly string[] {
  if (value === null) return []
  const items = isList(value) ? Array.from({ length: sizeOfList(value) }, (_, i) => itemAt(value, i)) : [value]
  return items
    .map(item => {
      if (typeof item !== 'string') throw new Error(`${words}expression must return a string or a list of strings`)
      return item
    })
    .filter(text => text !== '')
}
