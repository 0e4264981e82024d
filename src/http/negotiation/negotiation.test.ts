import { describe, expect, test } from 'vitest'
import { StatusError } from '../../meta/errors/status.js'
import { BODY_TYPES } from '../../request/body.js'
import {
  bodyType,
  checkRouteAccepts,
  checkRouteConsumes,
  checkWatchFormat,
  documents,
  findFormat,
  negotiateFormat,
  type Offer,
  patchType,
  spokenTypes,
  TYPED_OBJECTS,
  UNTYPED_OBJECTS,
  VIRTUAL_OBJECTS,
} from './negotiation.js'

const TABLE = 'as=Table;g=meta.k8s.io;v=v1'
const request = (accept: string, more: { query?: string; agent?: string } = {}) => ({
  headers: { accept, ...(more.agent && { 'user-agent': more.agent }) },
  query: new URLSearchParams(more.query),
  cbor: true,
})

/** `encoding`, and what it is shown as. */
function found(accept: string, offer: Offer): string | undefined {
  const form = findFormat(request(accept), offer)
  return form && (form.as ? `${form.encoding} ${form.as.apiVersion} ${form.as.kind}` : form.encoding)
}

describe('the format of a response', () => {
  test.each([
    ['', 'json'],
    ['*/*', 'json'],
    ['*', 'json'],
    ['application/*', 'json'],
    ['application/yaml', 'yaml'],
    ['application/cbor', 'cbor'],
    ['text/html,*/*', 'json'],
    ['text/html', undefined],
    ['text/*', undefined],
    ['Application/Yaml', undefined],
    ['application/x-yaml', undefined],
    ['application/cbor-seq', undefined],
    ['application/json;q=0', 'json'],
    ['application/yaml;q=0.001,text/html;q=1', 'yaml'],
    ['application/json;g=x;v=y', undefined],
    ['application/json;sv=v1', 'json'],
    ['application/json;sv=v2', undefined],
    ['application/json;stream=watch', 'json'],
    ['application/json;stream=nonsense', undefined],
    ['application/yaml;stream=watch', undefined],
    [`application/json;${TABLE}`, 'json meta.k8s.io/v1 Table'],
    [`application/yaml;${TABLE}`, 'yaml meta.k8s.io/v1 Table'],
    [`application/cbor;${TABLE},application/json`, 'json'],
    [`application/json,application/json;${TABLE}`, 'json'],
    [`application/json;q=0.1,application/json;${TABLE};q=0.9`, 'json meta.k8s.io/v1 Table'],
    ['application/json;as=Table;v=v1beta1;g=meta.k8s.io', 'json meta.k8s.io/v1beta1 Table'],
    ['application/json;as=Table;v=v1', undefined],
    ['application/json;as=table;g=meta.k8s.io;v=v1', undefined],
    ['application/json;as=Nonsense,application/json', 'json'],
    ['application/cbor;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', 'cbor meta.k8s.io/v1 PartialObjectMetadata'],
  ])('of any kind for %j is %s', (accept, form) => {
    expect(found(accept, TYPED_OBJECTS)).toBe(form)
    expect(found(accept, UNTYPED_OBJECTS)).toBe(form)
  })

  test('of a virtual resource is never a Table', () => {
    expect(found(`application/json;${TABLE}`, VIRTUAL_OBJECTS)).toBeUndefined()
    expect(found(`application/json;${TABLE},application/yaml`, VIRTUAL_OBJECTS)).toBe('yaml')
    const metadata = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
    expect(found(metadata, VIRTUAL_OBJECTS)).toBe('json meta.k8s.io/v1 PartialObjectMetadata')
  })

  test.each([
    ['application/vnd.kubernetes.protobuf', 'protobuf', undefined],
    ['application/vnd.kubernetes.protobuf,application/json', 'protobuf', 'json'],
    [`application/vnd.kubernetes.protobuf;${TABLE}`, undefined, undefined],
    [
      'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
      'protobuf meta.k8s.io/v1 PartialObjectMetadata',
      'protobuf meta.k8s.io/v1 PartialObjectMetadata',
    ],
  ])('with protobuf for %j is %s, without it %s', (accept, typed, untyped) => {
    expect(found(accept, TYPED_OBJECTS)).toBe(typed)
    expect(found(accept, UNTYPED_OBJECTS)).toBe(untyped)
  })

  test('documents are not converted, and a refusal names what there is', () => {
    const offer = documents('json', 'yaml')
    expect(found('application/cbor,application/yaml', offer)).toBe('yaml')
    expect(() => negotiateFormat(request(`application/json;${TABLE}`), offer)).toThrow(
      'only the following media types are accepted: application/json, application/yaml',
    )
  })

  test('a server that does not speak CBOR neither takes nor names it', () => {
    const plain = { ...request('application/cbor'), cbor: false }
    expect(() => negotiateFormat(plain, TYPED_OBJECTS)).toThrow(
      'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    )
    expect(findFormat({ ...request('application/cbor,*/*'), cbor: false }, TYPED_OBJECTS)?.encoding).toBe('json')
    expect(spokenTypes(['application/apply-patch+yaml', 'application/apply-patch+cbor'], false)).toEqual([
      'application/apply-patch+yaml',
    ])
  })

  test('a watch has no format in YAML', () => {
    checkWatchFormat({ encoding: 'cbor', as: undefined, pretty: false })
    expect(() => checkWatchFormat({ encoding: 'yaml', as: undefined, pretty: false })).toThrow(
      'only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch, application/cbor-seq',
    )
  })
})

test.each([
  ['application/json', {}, false],
  ['application/json;pretty=1', {}, true],
  ['application/json;pretty=true', {}, false],
  ['application/json', { query: 'pretty=true' }, true],
  ['application/json', { query: 'pretty=T' }, true],
  ['application/json', { query: 'pretty=x' }, false],
  ['application/json', { query: 'pretty' }, false],
  ['application/json;pretty=1', { query: 'pretty=false' }, true],
  ['application/json;pretty=0', { query: 'pretty=true' }, true],
  ['application/json', { agent: 'curl/8.5.0' }, true],
  ['application/json', { agent: 'Wget/1.21' }, true],
  ['application/json', { agent: 'Mozilla/5.0 (X11)' }, true],
  ['application/json', { agent: 'xcurl' }, false],
  ['application/json', { agent: 'curl/8.5.0', query: 'pretty=false' }, false],
  ['application/yaml;pretty=1', { query: 'pretty=true' }, false],
])('%s with %j is pretty: %s', (accept, more, pretty) => {
  expect(findFormat(request(accept, more), UNTYPED_OBJECTS)?.pretty).toBe(pretty)
})

describe('routes of built-in kinds', () => {
  const accepts = (accept: string, streams = false) =>
    codeOf(() => checkRouteAccepts({ accept }, ['json', 'yaml'], streams))

  test.each([
    ['application/json', undefined],
    ['text/html, */*', undefined],
    ['application/json;q=0.1', undefined],
    ['application/*', 406],
    ['*', 406],
    ['text/html', 406],
  ])('accept %j or refuse it by themselves: %s', (accept, code) => {
    expect(accepts(accept)).toBe(code)
  })

  test('name their types in a refusal', () => {
    expect(() => checkRouteAccepts({ accept: 'text/html' }, ['json', 'yaml'], false)).toThrow(
      '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml',
    )
    expect(accepts('application/cbor-seq')).toBe(406)
    expect(accepts('application/cbor-seq', true)).toBeUndefined()
  })

  test.each([
    ['application/merge-patch+json', undefined],
    ['application/merge-patch+json;charset=utf-8', undefined],
    ['application/json', 415],
    ['', 415],
  ])('consume patches of %j or refuse them: %s', (type, code) => {
    const headers = { 'content-type': type }
    expect(codeOf(() => checkRouteConsumes(headers, ['application/merge-patch+json']))).toBe(code)
  })
})

test.each([
  [undefined, 'application/json'],
  ['', 'application/json'],
  ['application/yaml', 'application/yaml'],
  ['APPLICATION/JSON; charset=utf-8', 'application/json'],
  ['application/json;nonsense', 415],
  ['application/merge-patch+json', 415],
  ['*/*', 415],
])('a body of content type %j is read as %s', (type, expected) => {
  const headers = type === undefined ? {} : { 'content-type': type }
  let read: string | number | undefined
  const code = codeOf(() => {
    read = bodyType(headers, BODY_TYPES)
  })
  expect(read ?? code).toBe(expected)
})

test('the media type of a patch is compared as text', () => {
  const types = ['application/json-patch+json', 'application/merge-patch+json']
  expect(patchType({ 'content-type': 'application/merge-patch+json; charset=utf-8' }, types)).toBe(types[1])
  for (const type of ['application/MERGE-PATCH+JSON', 'application/json', '']) {
    expect(() => patchType({ 'content-type': type }, types)).toThrow(
      `accepted media types include: ${types.join(', ')}`,
    )
  }
})

function codeOf(action: () => void): number | undefined {
  try {
    action()
    return undefined
  } catch (error) {
    return error instanceof StatusError ? error.status.code : -1
  }
}
