import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Exchange } from '../../http/exchange.js'
import { createPage } from './serve-page.js'

const SCRIPT = 'export {}\n'.repeat(50)
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'binnacle-page-'))
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), '<!doctype html>')
  writeFileSync(join(folder, 'icon.svg'), '<svg/>')
  writeFileSync(join(folder, 'assets/main-abc.js'), SCRIPT)
  writeFileSync(join(folder, 'assets/main-abc.js.br'), brotliCompressSync(SCRIPT))
  writeFileSync(join(folder, 'assets/main-abc.js.gz'), gzipSync(SCRIPT))
})
afterAll(() => rmSync(folder, { recursive: true }))

interface Answer {
  status: number
  headers: Record<string, string>
  bytes: Buffer | string | undefined
}

async function get(path: string, headers: Record<string, string> = {}, method = 'GET', from = folder): Promise<Answer> {
  const sent: Answer = { status: 0, headers: {}, bytes: undefined }
  const answer = (status: number, answered: Record<string, string>, bytes?: Buffer | string): void =>
    void Object.assign(sent, { status, headers: answered, bytes })
  const begin = (status: number, answered: Record<string, string>) => {
    answer(status, answered)
    return { end: () => {} }
  }
  const [at = '', query = ''] = path.split('?')
  await createPage(from)({ method, path: at, query, headers, answer, begin } as unknown as Exchange)
  return sent
}

test('the page is served with headers that shut others out', async () => {
  const { status, headers, bytes } = await get('/console/')
  expect({ status, bytes: String(bytes) }).toEqual({ status: 200, bytes: '<!doctype html>' })
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  })
  const policy = headers['content-security-policy']!.split('; ')
  expect(policy).toEqual(
    expect.arrayContaining(["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]),
  )
  expect(policy.filter(each => each.startsWith('script-src'))).toEqual(["script-src 'self'"])
})

test.each(['/console/browse/apps/v1/deployments', '/console/object/v1/pods/default/a'])(
  '%s is a view of the page',
  async path => {
    expect(await get(path)).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } })
  },
)

test('the name of an object may have dots', async () => {
  const path = '/console/definitions/widgets.example.com'
  expect((await get(path, { accept: 'text/html,*/*' })).status).toBe(200)
  expect((await get(path, { accept: '*/*' })).status).toBe(404)
})

test.each([
  '/console/assets/other.js',
  '/console/assets/../index.html',
  '/console/%2e%2e/package.json',
  '/console/..%2f.x',
])('there is no file %s', async path => {
  expect((await get(path)).status).toBe(404)
})

test('/console is redirected with its query', async () => {
  expect(await get('/console?a=1')).toMatchObject({ status: 301, headers: { location: '/console/?a=1' } })
})

test.each([
  ['', undefined],
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['br;q=0, gzip', 'gzip'],
  ['identity', undefined],
])('with Accept-Encoding %j the encoding is %s', async (accepted, encoding) => {
  const { headers } = await get('/console/assets/main-abc.js', { 'accept-encoding': accepted })
  expect(headers['content-encoding']).toBe(encoding)
  expect(headers).toMatchObject({
    vary: 'Accept-Encoding',
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
  })
})

test('a file that the browser has is not sent again', async () => {
  const { headers } = await get('/console/icon.svg')
  expect(headers['content-type']).toBe('image/svg+xml')
  const again = await get('/console/icon.svg', { 'if-none-match': `"x", W/${headers['etag']}` })
  expect(again).toMatchObject({ status: 304, bytes: undefined, headers: { etag: headers['etag'] } })
})

test('other methods than GET and HEAD are refused', async () => {
  expect((await get('/console/', {}, 'HEAD')).status).toBe(200)
  expect(await get('/console/', {}, 'POST')).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
})

test('a page that was not built is said to be missing, and is found when it was', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'binnacle-page-'))
  const { status, bytes } = await get('/console/', {}, 'GET', empty)
  expect(status).toBe(503)
  expect(String(bytes)).toContain('npm run build')
  const page = createPage(empty)
  const read = async (): Promise<string> => {
    let text = ''
    const answer = (_: number, __: object, body: Buffer): void => void (text = String(body))
    await page({ method: 'GET', path: '/console/', query: '', headers: {}, answer } as unknown as Exchange)
    return text
  }
  writeFileSync(join(empty, 'index.html'), 'one')
  expect(await read()).toBe('one')
  writeFileSync(join(empty, 'index.html'), 'two')
  utimesSync(join(empty, 'index.html'), 1, 1)
  expect(await read()).toBe('two')
  rmSync(empty, { recursive: true })
})
