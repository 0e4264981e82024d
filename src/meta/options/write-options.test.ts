import { describe, expect, it, test } from 'vitest'
import { StatusError } from '../errors/status.js'
import {
  failedBeforeTerminating,
  failedPrecondition,
  parseCreateOptions,
  parseDeleteOptions,
  parsePatchOptions,
  parseUpdateOptions,
} from './write-options.js'

const query = (text: string): URLSearchParams => new URLSearchParams(text)

function reasonOf(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    if (error instanceof StatusError) return `${error.status.code} ${error.message}`
    throw error
  }
  return 'none'
}

describe('create, update and patch', () => {
  it('have defaults', () => {
    const defaults = { dryRun: false, fieldManager: '', fieldValidation: '' }
    expect(parseCreateOptions(query(''))).toEqual(defaults)
    expect(parsePatchOptions(query(''), false)).toEqual({ ...defaults, force: false })
  })

  it('are parsed', () => {
    const text = 'dryRun=All&dryRun=All&fieldManager=m&fieldValidation=Strict&force=maybe'
    expect(parsePatchOptions(query(text), true)).toEqual({
      dryRun: true,
      fieldManager: 'm',
      fieldValidation: 'Strict',
      force: true,
    })
  })

  test.each([
    ['dryRun=', 'dryRun: Unsupported value: [""]: supported values: "All"'],
    ['dryRun=All&dryRun=None', 'dryRun: Unsupported value: ["All","None"]: supported values: "All"'],
    ['fieldValidation=x', 'fieldValidation: Unsupported value: "x": supported values: "", "Ignore", "Strict", "Warn"'],
    [`fieldManager=${'m'.repeat(129)}`, 'fieldManager: Too long: may not be more than 128 bytes'],
    ['fieldManager=%C3%A4%01', 'fieldManager: Invalid value: "ä\\x01": invalid character U+0001 (at position 2)'],
  ])('%j is invalid', (text, why) => {
    expect(reasonOf(() => parseCreateOptions(query(text)))).toBe(`422 CreateOptions.meta.k8s.io "" is invalid: ${why}`)
    expect(reasonOf(() => parseUpdateOptions(query(text)))).toBe(`422 UpdateOptions.meta.k8s.io "" is invalid: ${why}`)
  })

  test.each([
    ['force=false', false, 'force: Forbidden: may not be specified for non-apply patch'],
    ['', true, 'fieldManager: Required value: is required for apply patch'],
  ])('a patch with %j is invalid', (text, apply, why) => {
    expect(reasonOf(() => parsePatchOptions(query(text), apply))).toBe(
      `422 PatchOptions.meta.k8s.io "" is invalid: ${why}`,
    )
  })
})

const INVALID = '422 DeleteOptions.meta.k8s.io "" is invalid: '
const POLICIES = 'supported values: "Foreground", "Background", "Orphan", "nil"'

describe('delete by parameters', () => {
  it('is parsed', () => {
    expect(parseDeleteOptions(query(''))).toEqual({ dryRun: false, ignoreStoreReadError: false })
    expect(
      parseDeleteOptions(query(`gracePeriodSeconds=-5&propagationPolicy=Orphan&dryRun=All&preconditions.uid=x`)),
    ).toEqual({
      dryRun: true,
      gracePeriodSeconds: -5,
      propagationPolicy: 'Orphan',
      ignoreStoreReadError: false,
    })
    expect(parseDeleteOptions(query(`orphanDependents=maybe`)).orphanDependents).toBe(true)
    expect(parseDeleteOptions(query(`resourceVersion=7`)).preconditions).toEqual({ resourceVersion: '7' })
    expect(parseDeleteOptions(query(`uid=a&resourceVersion=`)).preconditions).toEqual({ uid: 'a' })
  })

  test.each([
    ['gracePeriodSeconds=x', '400 strconv.ParseInt: parsing "x": invalid syntax'],
    ['propagationPolicy=Odd', `${INVALID}propagationPolicy: Unsupported value: "Odd": ${POLICIES}`],
    [
      'propagationPolicy=Orphan&orphanDependents=0',
      `${INVALID}propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set`,
    ],
  ])('%j is refused', (text, error) => {
    expect(reasonOf(() => parseDeleteOptions(query(text)))).toBe(error)
  })
})

describe('preconditions', () => {
  const meta = { name: 'a', uid: 'u', resourceVersion: '5' }
  const kind = { group: '', kind: 'Pod' }

  it('are met', () => {
    expect(failedPrecondition({}, meta, kind)).toBeUndefined()
    expect(failedPrecondition({ uid: 'u', resourceVersion: '5' }, meta, kind)).toBeUndefined()
  })

  it('or are not met', () => {
    expect(failedPrecondition({ uid: 'x' }, meta, kind)?.status).toMatchObject({
      code: 409,
      message:
        'Operation cannot be fulfilled on Pod "a": the UID in the precondition (x) does not match the UID in record (u). The object might have been deleted and then recreated',
      details: { name: 'a', kind: 'Pod' },
    })
    expect(failedPrecondition({ resourceVersion: '4' }, meta, kind)?.message).toContain(
      'the ResourceVersion in the precondition (4) does not match the ResourceVersion in record (5). The object might have been modified',
    )
  })
})

test('kinds with a terminating phase have their own messages for preconditions', () => {
  const resource = { group: '', resource: 'namespaces' }
  const meta = { name: 'a', uid: 'u', resourceVersion: '5' }
  const failed = (preconditions: Parameters<typeof failedBeforeTerminating>[0]) =>
    failedBeforeTerminating(preconditions, meta, resource)?.message
  expect(failed({ uid: 'u', resourceVersion: '5' })).toBeUndefined()
  expect(failed({ uid: 'x' })).toBe(
    'Operation cannot be fulfilled on namespaces "a": Precondition failed: UID in precondition: x, UID in object meta: u',
  )
  expect(failed({ resourceVersion: '4' })).toContain('ResourceVersion in precondition: 4, ResourceVersion in object')
})
