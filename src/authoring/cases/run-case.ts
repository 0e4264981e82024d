// Runs one case, and says what is not as it expects.

import { encodeJson } from '../../codec/json.js'
import type { VersionedKind } from '../../kinds/registry.js'
import { equalValues, getOwn, isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import type { Answer, OfflineApi } from '../offline-api.js'
import type { Coverage } from './coverage.js'
import type { TestCase } from './read-cases.js'

export interface Problem {
  /** The field of the case. */
  readonly field: string
  readonly message: string
}

export async function runCase(api: OfflineApi, testCase: TestCase, coverage: Coverage): Promise<readonly Problem[]> {
  const { object, old, user, expect } = testCase
  const of = kindOf(api, object)
  if (of === undefined) {
    const type = `${textOf(object['apiVersion'])} ${textOf(object['kind'])}`
    return [{ field: 'object', message: `there is no definition of ${type} among the files` }]
  }
  const body = { bytes: Buffer.from(encodeJson(object)), mediaType: 'application/json' }
  const before = old === undefined ? undefined : api.asStored(of, old)
  const answer =
    before === undefined ? await api.create(of, body, { user }) : await api.update(of, body, before, { user })
  coverage.add(of, object, before, answer.status)
  const problems = expect.refused === undefined ? checkAccepted(answer) : checkRefused(answer, expect.refused)
  if (problems.length > 0) return problems
  return [
    ...checkWarnings(answer, expect.warnings),
    ...checkBecomes(answer, expect.becomes),
    ...(await checkConverted(of, answer, expect.converted)),
  ]
}

function kindOf(api: OfflineApi, object: ValueObject): VersionedKind | undefined {
  return api.find(textOf(object['apiVersion']), textOf(object['kind']))
}

const textOf = (value: Value | undefined): string => (typeof value === 'string' ? value : '')

const checkAccepted = ({ status }: Answer): readonly Problem[] =>
  status === undefined ? [] : [{ field: 'expect.accepted', message: `it was refused: ${status.message ?? ''}` }]

function checkRefused({ status }: Answer, parts: readonly string[]): readonly Problem[] {
  if (status === undefined) return [{ field: 'expect.refused', message: 'it was accepted' }]
  const { message = '' } = status
  return parts
    .filter(part => !message.includes(part))
    .map(part => ({
      field: 'expect.refused',
      message: `the message does not contain ${JSON.stringify(part)}: ${message}`,
    }))
}

function checkWarnings({ warnings }: Answer, expected: readonly string[] | undefined): readonly Problem[] {
  if (expected === undefined) return []
  const field = 'expect.warnings'
  const missing = expected.filter(part => !warnings.some(text => text.includes(part)))
  const extra = warnings.filter(text => !expected.some(part => text.includes(part)))
  return [
    ...missing.map(part => ({ field, message: `no warning contains ${JSON.stringify(part)}` })),
    ...extra.map(text => ({ field, message: `there was another warning: ${text}` })),
  ]
}

function checkBecomes({ prepared }: Answer, expected: ValueObject | undefined): readonly Problem[] {
  if (expected === undefined || prepared === undefined) return []
  return differences(prepared.object, expected, '').map(message => ({ field: 'expect.becomes', message }))
}

async function checkConverted(
  { kind }: VersionedKind,
  { prepared }: Answer,
  expected: readonly ValueObject[],
): Promise<readonly Problem[]> {
  if (prepared === undefined) return []
  const problems: Problem[] = []
  for (const [i, wanted] of expected.entries()) {
    const converted = await kind.convert(prepared.object, textOf(wanted['apiVersion']))
    for (const message of differences(converted, wanted, ''))
      problems.push({ field: `expect.converted[${i}]`, message })
  }
  return problems
}

/** Where a value does not contain what it must; null stands for a field that must not be there. */
function differences(actual: Value | undefined, expected: Value, at: string): readonly string[] {
  if (isObject(expected) && isObject(actual)) {
    return Object.entries(expected).flatMap(([name, value]) =>
      differences(getOwn(actual, name), value, at === '' ? name : `${at}.${name}`),
    )
  }
  if (expected === null && actual === undefined) return []
  if (equalValues(actual, expected)) return []
  const shown = actual === undefined ? 'missing' : encodeJson(actual)
  return [`${at === '' ? 'the object' : at} is ${shown} and not ${encodeJson(expected)}`]
}
