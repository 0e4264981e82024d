import { expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { changed, created, validationOf } from '../written-objects.suite.js'

const validation = validationOf('storage.k8s.io/v1', 'VolumeAttachment', false)
const errorsOf = (object: ValueObject): string[] =>
  validation.create({ metadata: { name: 'x' }, ...object }).map(printFieldError)

test('an attachment has one source', () => {
  const source = { persistentVolumeName: 'v', inlineVolumeSpec: {} }
  expect(errorsOf({ spec: { attacher: 'a', nodeName: 'n', source } })).toEqual([
    'spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and persistentVolumeName',
  ])
})

test('a write to the status does not change metadata', () => {
  const spec = { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'v' } }
  const old = created('storage.k8s.io/v1', 'VolumeAttachment', { metadata: { labels: { a: 'b' } }, spec })
  const patch = { metadata: { labels: { a: 'c' } }, status: { attached: true } }
  const written = changed('storage.k8s.io/v1', 'VolumeAttachment', old, patch, 'status')
  expect(written).toMatchObject({ metadata: { labels: { a: 'b' } }, status: { attached: true } })
})
