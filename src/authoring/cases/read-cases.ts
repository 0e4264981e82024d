// The cases of a DefinitionTest:
//
//   apiVersion: binnacle.dev/v1
//   kind: DefinitionTest
//   cases:
//   - name: seven is taken
//     object: {apiVersion: …, kind: Widget, metadata: {name: a}, spec: {size: 7}}
//     old: {…}                        the object before an update
//     user: {name: alice, groups: []} for admission policies
//     expect:
//       accepted: true                or  refused: a part of the message, or several
//       warnings: [a part of each]
//       becomes: {spec: …}            what it must contain after defaults
//       converted: [{apiVersion: …}]  what it must contain in other versions

import { getOwn, isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import type { UserInfo } from '../../request/user-info.js'
import type { Document } from '../documents.js'
import { type Finding, findingAt } from '../findings.js'
import { ADMINISTRATOR } from '../offline-api.js'

export interface TestCase {
  readonly name: string
  /** Its place in the file: `cases[0]`. */
  readonly at: string
  readonly object: ValueObject
  readonly old: ValueObject | undefined
  readonly user: UserInfo
  readonly expect: Expectation
}

export interface Expectation {
  /** Parts of the message of a refusal; undefined if the object is to be accepted. */
  readonly refused: readonly string[] | undefined
  /** Undefined if warnings are not looked at. */
  readonly warnings: readonly string[] | undefined
  readonly becomes: ValueObject | undefined
  readonly converted: readonly ValueObject[]
}

export interface ReadCases {
  readonly cases: readonly TestCase[]
  readonly findings: readonly Finding[]
}

const CASE_FIELDS = new Set(['name', 'object', 'old', 'user', 'expect'])
const EXPECT_FIELDS = new Set(['accepted', 'refused', 'warnings', 'becomes', 'converted'])

export function readCases(document: Document): ReadCases {
  const findings: Finding[] = []
  const wrong: Wrong = (field, message) => {
    findings.push(findingAt(document, field, { rule: 'wrong-case', severity: 'error', message }))
    return undefined
  }
  const written = getOwn(document.value, 'cases')
  if (!Array.isArray(written)) wrong('', 'a DefinitionTest has a list of cases')
  const cases = (Array.isArray(written) ? written : []).flatMap((value, i): readonly TestCase[] => {
    const read = readCase(value, `cases[${i}]`, wrong)
    return read === undefined ? [] : [read]
  })
  return { cases, findings }
}

type Wrong = (field: string, message: string) => undefined

function readCase(value: Value, at: string, wrong: Wrong): TestCase | undefined {
  if (!isObject(value)) return wrong(at, 'a case is an object')
  checkFields(value, CASE_FIELDS, at, wrong)
  const object = getOwn(value, 'object')
  if (!isObject(object)) return wrong(at, 'a case has an object')
  const old = getOwn(value, 'old')
  const expectation = getOwn(value, 'expect')
  const expected = isObject(expectation) ? expectation : {}
  checkFields(expected, EXPECT_FIELDS, `${at}.expect`, wrong)
  const refused = getOwn(expected, 'refused')
  const accepted = getOwn(expected, 'accepted')
  if ((refused === undefined) === (accepted === undefined)) {
    wrong(`${at}.expect`, 'a case expects accepted: true, or refused with a part of the message')
  }
  const name = getOwn(value, 'name')
  const becomes = getOwn(expected, 'becomes')
  const converted = getOwn(expected, 'converted')
  return {
    name: typeof name === 'string' ? name : at,
    at,
    object,
    old: isObject(old) ? old : undefined,
    user: readUser(getOwn(value, 'user')),
    expect: {
      refused: refused === undefined ? undefined : textsOf(refused),
      warnings: textsOrNone(getOwn(expected, 'warnings')),
      becomes: isObject(becomes) ? becomes : undefined,
      converted: Array.isArray(converted) ? converted.filter(isObject) : [],
    },
  }
}

function checkFields(value: ValueObject, known: ReadonlySet<string>, at: string, wrong: Wrong): void {
  for (const name of Object.keys(value)) {
    if (!known.has(name)) wrong(`${at}.${name}`, `there is no field ${name} here; there are ${[...known].join(', ')}`)
  }
}

function readUser(value: Value | undefined): UserInfo {
  if (!isObject(value)) return ADMINISTRATOR
  const name = getOwn(value, 'name')
  return {
    name: typeof name === 'string' ? name : '',
    uid: '',
    groups: textsOrNone(getOwn(value, 'groups')) ?? ['system:authenticated'],
    extra: {},
  }
}

/** `true` is any message. */
function textsOf(value: Value): readonly string[] {
  if (typeof value === 'string') return [value]
  return Array.isArray(value) ? value.filter(each => typeof each === 'string') : []
}

const textsOrNone = (value: Value | undefined): readonly string[] | undefined =>
  value === undefined ? undefined : textsOf(value)
