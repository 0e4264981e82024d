// Patches that were recorded on the reference server, replayed on the object they were sent to.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Value, ValueObject } from '../meta/values/value.js'
import { applyJsonPatch, parseJsonPatch } from './json-patch.js'
import { applyMergePatch, parseMergePatch } from './merge-patch.js'
import { PatchError } from './patch-error.js'

interface Scenario {
  name: string
  object: ValueObject
  steps: Step[]
}

/** What the patch set and took away, or how it failed. */
interface Step {
  kind: 'json' | 'merge'
  patch: Value
  set?: ValueObject
  gone?: string[]
  error?: [code: number, message: string]
}

const scenarios = JSON.parse(
  readFileSync(new URL('recorded-patches.fixture.json', import.meta.url), 'utf8'),
) as Scenario[]

describe.each(scenarios)('$name', ({ object, steps }) => {
  test.each(steps.map(step => [JSON.stringify(step.patch), step] as const))('%s', (_, step) => {
    expect(outcomeOf(object, step)).toEqual(expectedOf(object, step))
  })
})

function outcomeOf(object: ValueObject, { kind, patch }: Step): unknown {
  try {
    if (kind === 'merge') return applyMergePatch(object, parseMergePatch(patch))
    return applyJsonPatch(object, parseJsonPatch(patch, { text: JSON.stringify(patch) }))
  } catch (error) {
    if (error instanceof PatchError) return [error.code, error.message]
    throw error
  }
}

function expectedOf(object: ValueObject, { set = {}, gone = [], error }: Step): unknown {
  if (error !== undefined) return error
  const expected = structuredClone(object)
  for (const pointer of [...gone, ...Object.keys(set)]) {
    const [outer = '', inner] = pointer.split('/').slice(1)
    const holder = (inner === undefined ? expected : expected[outer]) as ValueObject
    const key = inner === undefined ? outer : pointer.slice(outer.length + 2)
    if (pointer in set) holder[key] = set[pointer]!
    else delete holder[key]
  }
  return expected
}
