import { describe, expect, it, test } from 'vitest'
import { StatusError } from '../meta/errors/status.js'
import { checkDeleteCollectionOptions } from '../meta/options/write-options.js'
import type { Value } from '../meta/values/value.js'
import { decodeDeleteOptions } from './delete-options.js'

const INVALID = '422 DeleteOptions.meta.k8s.io "" is invalid: '
const POLICIES = 'supported values: "Foreground", "Background", "Orphan", "nil"'
const IGNORE = 'ignoreStoreReadErrorWithClusterBreakingPotential'
const TYPE = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

function reasonOf(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    if (error instanceof StatusError) return `${error.status.code} ${error.message}`
    throw error
  }
  return 'none'
}

describe('delete by a body', () => {
  test.each<[Value]>([
    [null],
    [{}],
    [{ kind: 'DeleteOptions', apiVersion: 'other.example.com/v9', nonsense: 1 }],
    [{ apiVersion: 'v1', kind: null }],
  ])('%j asks for nothing special', body => {
    expect(decodeDeleteOptions(body)).toEqual({ dryRun: false, ignoreStoreReadError: false })
  })

  it('is parsed', () => {
    const preconditions = { uid: 'u', resourceVersion: '5' }
    expect(decodeDeleteOptions({ preconditions, gracePeriodSeconds: 0, dryRun: ['All'] })).toEqual({
      dryRun: true,
      gracePeriodSeconds: 0,
      preconditions,
      ignoreStoreReadError: false,
    })
  })

  test.each<[Value, string]>([
    [[], `400 couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type ${TYPE}`],
    [
      { kind: 5 },
      "400 couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string",
    ],
    [
      { kind: 'Thing' },
      '400 no kind "Thing" is registered for version "meta.k8s.io/v1" in scheme "pkg/apis/meta/internalversion/scheme/register.go:27"',
    ],
    [
      { propagationPolicy: 5 },
      '400 json: cannot unmarshal number into Go struct field DeleteOptions.propagationPolicy of type v1.DeletionPropagation',
    ],
    [
      { preconditions: 'x' },
      '400 json: cannot unmarshal string into Go struct field DeleteOptions.preconditions of type v1.Preconditions',
    ],
    [{ dryRun: 'All' }, '400 json: cannot unmarshal string into Go struct field DeleteOptions.dryRun of type []string'],
    [{ propagationPolicy: '' }, `${INVALID}propagationPolicy: Unsupported value: "": ${POLICIES}`],
    [{ dryRun: ['Some'] }, `${INVALID}dryRun: Unsupported value: ["Some"]: supported values: "All"`],
    [
      { [IGNORE]: true, preconditions: {} },
      `${INVALID}${IGNORE}: Invalid value: true: cannot be set together with .preconditions`,
    ],
    [
      { [IGNORE]: true, orphanDependents: false, dryRun: ['All'] },
      `${INVALID}[${IGNORE}: Invalid value: true: cannot be set together with .dryRun, ${IGNORE}: Invalid value: true: cannot be set together with .orphanDependents]`,
    ],
  ])('%j is refused', (body, error) => {
    expect(reasonOf(() => decodeDeleteOptions(body))).toBe(error)
  })

  it('cannot skip undecodable objects in a collection', () => {
    const why = `${IGNORE}: Invalid value: true: is not allowed with DELETECOLLECTION, try again after removing the option`
    expect(reasonOf(() => checkDeleteCollectionOptions(decodeDeleteOptions({ [IGNORE]: true })))).toBe(
      `${INVALID}${why}`,
    )
    expect(reasonOf(() => checkDeleteCollectionOptions(decodeDeleteOptions({ [IGNORE]: false })))).toBe('none')
  })
})
