import { describe, expect, it, test } from 'vitest'
import { printFieldError } from '../errors/field-errors.js'
import { RANDOM_IDS } from './ids.js'
import { checkDnsSubdomain, checkPathSegment } from './names.js'
import {
  checkObjectMeta,
  checkObjectMetaUpdate,
  finalizerWarnings,
  metaForCreate,
  metaForDeletion,
  metaForSoonerDeletion,
  metaForUpdate,
  metaOf,
  nameMismatch,
  type ObjectMeta,
  setRequestNamespace,
  withMeta,
  withoutSystemFields,
} from './object-meta.js'

const NOW = Date.UTC(2024, 0, 2, 3, 4, 5, 678)
const rules = { namespaced: true, name: checkDnsSubdomain }
const good: ObjectMeta = { name: 'a', namespace: 'default', uid: 'u', resourceVersion: '5' }

describe('the metadata of an object', () => {
  it('are found and replaced', () => {
    expect(metaOf({ kind: 'K' })).toEqual({})
    const object = withMeta({ spec: 1, kind: 'K', metadata: { name: 'a' }, apiVersion: 'v1' }, { name: 'b' })
    expect(JSON.stringify(object)).toBe('{"apiVersion":"v1","kind":"K","metadata":{"name":"b"},"spec":1}')
  })
})

describe('the path of the request', () => {
  it('gives the namespace', () => {
    expect(setRequestNamespace({ name: 'a' }, 'ns')).toEqual({ name: 'a', namespace: 'ns' })
    expect(setRequestNamespace({ name: 'a', namespace: 'ns' }, 'ns')).toEqual({ name: 'a', namespace: 'ns' })
    expect(setRequestNamespace({ name: 'a', namespace: 'ns' }, '')).toEqual({ name: 'a' })
    expect(() => setRequestNamespace({ namespace: 'other' }, 'ns')).toThrow(
      'the namespace of the provided object does not match the namespace sent on the request',
    )
  })

  it('must agree with the name', () => {
    expect(nameMismatch({ name: 'a' }, 'a')).toBeUndefined()
    expect(nameMismatch({ name: 'b' }, 'a')?.message).toBe(
      'the name of the object (b) does not match the name on the URL (a)',
    )
    expect(nameMismatch({}, 'a')?.message).toBe(
      'the name of the object (a based on URL) was undeterminable: name must be provided',
    )
  })
})

describe('fields that the server sets', () => {
  it('on create', () => {
    const sent = {
      name: 'a',
      uid: 'mine',
      selfLink: '/x',
      generation: 42,
      creationTimestamp: '1999-01-02T03:04:05Z',
      deletionTimestamp: '1999-01-02T03:04:05Z',
      deletionGracePeriodSeconds: 30,
    }
    expect(withoutSystemFields(sent)).toEqual({ name: 'a', generation: 42 })
    expect(metaForCreate(withoutSystemFields(sent), NOW, RANDOM_IDS)).toEqual({
      name: 'a',
      generation: 42,
      uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      creationTimestamp: '2024-01-02T03:04:05Z',
    })
  })

  it('generates a name only if there is none', () => {
    expect(metaForCreate({ generateName: 'g-' }, NOW, RANDOM_IDS).name).toMatch(/^g-.{5}$/)
    expect(metaForCreate({ generateName: 'g-', name: 'a' }, NOW, RANDOM_IDS).name).toBe('a')
  })

  it('on update', () => {
    const old: ObjectMeta = {
      ...good,
      creationTimestamp: '2024-01-01T00:00:00Z',
      deletionTimestamp: '2024-01-02T00:00:00Z',
      deletionGracePeriodSeconds: 0,
    }
    expect(metaForUpdate({ name: 'a', selfLink: '/x', creationTimestamp: '1999-01-01T00:00:00Z' }, old)).toEqual({
      name: 'a',
      uid: 'u',
      creationTimestamp: '2024-01-01T00:00:00Z',
      deletionTimestamp: '2024-01-02T00:00:00Z',
      deletionGracePeriodSeconds: 0,
    })
    expect(metaForUpdate({ uid: 'other', deletionGracePeriodSeconds: 5 }, old)).toMatchObject({
      uid: 'other',
      deletionGracePeriodSeconds: 5,
    })
  })

  it('on deletion, once', () => {
    const meta = metaForDeletion({ name: 'a', generation: 1 }, NOW, 30)
    expect(meta).toEqual({
      name: 'a',
      generation: 2,
      deletionTimestamp: '2024-01-02T03:04:35Z',
      deletionGracePeriodSeconds: 30,
    })
    expect(metaForDeletion(meta, NOW + 5000)).toBe(meta)
    expect(metaForDeletion({ name: 'a' }, NOW)).not.toHaveProperty('generation')
    expect(metaForDeletion({}, NOW, Number.MAX_SAFE_INTEGER).deletionTimestamp).toBe('9999-12-31T23:59:59Z')
  })

  it('on deletion with a shorter grace period, counted from the first request', () => {
    const meta = metaForDeletion({ name: 'a', generation: 1 }, NOW, 30)
    expect(metaForSoonerDeletion(meta, 10)).toEqual({
      name: 'a',
      generation: 2,
      deletionTimestamp: '2024-01-02T03:04:15Z',
      deletionGracePeriodSeconds: 10,
    })
  })
})

describe('validation refuses', () => {
  const reference = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }
  test.each<[string, ObjectMeta, string[]]>([
    ['nothing', good, []],
    ['no name', { namespace: 'default' }, ['metadata.name: Required value: name or generateName is required']],
    ['no namespace', { name: 'a' }, ['metadata.namespace: Required value']],
    [
      'a negative generation',
      { ...good, generation: -1 },
      ['metadata.generation: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'a label',
      { ...good, labels: { '/a': 'x' } },
      ['metadata.labels: Invalid value: "/a": prefix part must be non-empty'],
    ],
    [
      'an annotation',
      { ...good, annotations: { '/a': 'x' } },
      ['metadata.annotations: Invalid value: "/a": prefix part must be non-empty'],
    ],
    [
      'too much annotated',
      { ...good, annotations: { a: 'x'.repeat(262144) } },
      ['metadata.annotations: Too long: may not be more than 262144 bytes'],
    ],
    [
      'an owner that is not named',
      { ...good, ownerReferences: [{ apiVersion: 'a/b/c', kind: '', name: '', uid: '' }] },
      [
        'metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty',
        'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
        'metadata.ownerReferences.name: Invalid value: "": must not be empty',
        'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
      ],
    ],
    [
      'an event as owner',
      { ...good, ownerReferences: [{ ...reference, kind: 'Event' }] },
      [
        'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"n","uid":"u"}: /v1, Kind=Event is disallowed from being an owner',
      ],
    ],
    [
      'two controllers',
      {
        ...good,
        ownerReferences: [
          { ...reference, controller: true },
          { ...reference, name: 'm', controller: true },
        ],
      },
      [
        'metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"Node","name":"n","uid":"u","controller":true},{"apiVersion":"v1","kind":"Node","name":"m","uid":"u","controller":true}]: Only one reference can have Controller set to true. Found "true" in references for Node/n and Node/m',
      ],
    ],
    [
      'finalizers that exclude each other',
      { ...good, finalizers: ['orphan', 'foregroundDeletion'] },
      [
        'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
      ],
    ],
    [
      'managed fields',
      { ...good, managedFields: [{ operation: 'Odd', fieldsType: 'V2', manager: 'a\nb' }] },
      [
        'metadata.managedFields[0].operation: Invalid value: "Odd": must be `Apply` or `Update`',
        'metadata.managedFields[0].fieldsType: Invalid value: "V2": must be `FieldsV1`',
        'metadata.managedFields[0].manager: Invalid value: "a\\nb": invalid character U+000A (at position 1)',
      ],
    ],
  ])('%s', (_, meta, messages) => {
    expect(checkObjectMeta(meta, rules).map(printFieldError)).toEqual(messages)
  })

  it('a namespace on a cluster-scoped object', () => {
    expect(checkObjectMeta(good, { ...rules, namespaced: false }).map(printFieldError)).toEqual([
      'metadata.namespace: Forbidden: not allowed on this type',
    ])
  })

  it('names by the rule of the kind, also for generateName', () => {
    const segments = {
      namespaced: false,
      name: checkPathSegment,
      generateName: (base: string) => checkPathSegment(base, true),
    }
    const errors = checkObjectMeta({ name: '..', generateName: '..' }, segments, 'spec.o.metadata')
    expect(errors.map(printFieldError)).toEqual([`spec.o.metadata.name: Invalid value: "..": may not be '..'`])
  })
})

describe('an update may not', () => {
  const old: ObjectMeta = { ...good, generation: 2 }
  test.each<[string, ObjectMeta, ObjectMeta, string[]]>([
    ['nothing', old, old, []],
    [
      'come without a version',
      { ...old, resourceVersion: '' },
      old,
      ['metadata.resourceVersion: Invalid value: "": must be specified for an update'],
    ],
    ['go back', { ...old, generation: 1 }, old, ['metadata.generation: Invalid value: 1: must not be decremented']],
    ['change the uid', { ...old, uid: 'x' }, old, ['metadata.uid: Invalid value: "x": field is immutable']],
    [
      'delete',
      { ...old, deletionTimestamp: '1999-01-02T03:04:05Z', deletionGracePeriodSeconds: 5 },
      old,
      [
        'metadata.deletionTimestamp: Invalid value: "1999-01-02T03:04:05Z": field is immutable',
        'metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable',
      ],
    ],
    [
      'undelete',
      old,
      { ...old, deletionGracePeriodSeconds: 5 },
      ['metadata.deletionGracePeriodSeconds: Invalid value: null: field is immutable'],
    ],
    [
      'add finalizers to what goes',
      { ...old, deletionTimestamp: 't', finalizers: ['x/b', 'x/a', 'x/c'] },
      { ...old, deletionTimestamp: 't', finalizers: ['x/a'] },
      [
        'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x/b", "x/c"}',
      ],
    ],
    [
      'take finalizers away',
      { ...old, deletionTimestamp: 't' },
      { ...old, deletionTimestamp: 't', finalizers: ['x/a'] },
      [],
    ],
    [
      'label wrongly',
      { ...old, labels: { '/a': '' } },
      old,
      ['metadata.labels: Invalid value: "/a": prefix part must be non-empty'],
    ],
  ])('%s', (_, meta, before, messages) => {
    expect(checkObjectMetaUpdate(meta, before).map(printFieldError)).toEqual(messages)
  })
})

it('warns about new finalizers', () => {
  const finalizers = ['plain', 'a.b.c', 'example.com/x', 'orphan', 'old']
  expect(finalizerWarnings({ finalizers }, { finalizers: ['old'] })).toEqual([
    'metadata.finalizers: "a.b.c": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers',
    'metadata.finalizers: "plain": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
  ])
})
