// /statusz and /flagz, as text and in the forms that Accept names.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findIn } from '../../src/http/serve/paths.js'
import { NOT_EMULATED } from '../../src/meta/effective-version.js'
import { componentPages } from '../../src/server/startup/component-pages.js'
import { type ApiFixture, type Client, http2Client, startApi } from '../http/api-fixture.js'

let api: ApiFixture
let client: Client

beforeAll(async () => {
  const pages = componentPages({
    gates: {},
    version: NOT_EMULATED,
    flags: { 'watch-cache': 'true', 'request-timeout': '1m0s' },
    startedAt: Date.parse('2026-11-08T16:18:23Z'),
    now: () => Date.parse('2026-11-08T18:20:29Z'),
  })
  api = await startApi({ findPath: findIn(new Map(pages)) })
  client = await http2Client(api)
})
afterAll(async () => {
  client.close()
  await api.close()
})

const get = (path: string, accept = '') => client.send({ path, headers: accept === '' ? {} : { accept } })
const WARNING = /^\napiserver (flagz|statusz)\nWarning: This endpoint is not meant to be machine parseable.*\n/

test('text for people', async () => {
  for (const accept of ['', '*/*', 'text/plain', 'application/json;v=foo;g=config.k8s.io;as=Statusz,*/*']) {
    const { status, text, headers } = await get('/statusz', accept)
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(text).toMatch(WARNING)
    expect(text).toContain('\nStarted: Sun Nov  8 16:18:23 UTC 2026\nUp: 2 hr 02 min 06 sec\n')
    expect(text).toContain('\nPaths: /flagz /healthz /livez /metrics /readyz /statusz /version\n')
  }
  expect((await get('/flagz')).text.replace(WARNING, '')).toBe('request-timeout:1m0s\nwatch-cache:true\n')
})

test.each(['json', 'yaml', 'cbor'])('%s in the version that Accept names first', async encoding => {
  const type = (version: string) => `application/${encoding};v=${version};g=config.k8s.io;as=Flagz`
  const named = (version: string) => `application/${encoding};g=config.k8s.io;v=${version};as=Flagz`
  const beta = await get('/flagz', `${type('v1beta1')},${type('v1alpha1')}`)
  expect([beta.status, beta.headers['content-type'], beta.headers['warning']]).toEqual([
    200,
    named('v1beta1'),
    undefined,
  ])
  const alpha = await get('/flagz', `${type('v1alpha1')},${type('v1beta1')}`)
  expect(alpha.headers).toMatchObject({
    'content-type': named('v1alpha1'),
    warning: '299 - "This version of the flagz endpoint is deprecated. Please use a newer version."',
  })
  if (encoding !== 'json') return
  expect(beta.json()).toEqual({
    kind: 'Flagz',
    apiVersion: 'config.k8s.io/v1beta1',
    metadata: { name: 'apiserver' },
    flags: { 'request-timeout': '1m0s', 'watch-cache': 'true' },
  })
})

test.each(['application/json', 'application/xml', 'application/json;v=v1beta1;g=config.k8s.io'])(
  '%s is not acceptable',
  async accept => {
    const { status, json } = await get('/statusz', accept)
    expect([status, json().message]).toEqual([
      406,
      'only the following media types are accepted: application/json, application/yaml, text/plain, application/cbor',
    ])
  },
)
