// Serves the files of the page below /console/. A path that is no file is a view of the page, which has its own routing.
import type { Exchange } from '../../http/exchange.js'
import { createPageReader, INDEX, type PageFile, type Variant } from './files.js'
import { SECURITY_HEADERS } from './security-headers.js'

export const CONSOLE_PATH = '/console/'

export function createPage(folder: string): (exchange: Exchange) => Promise<void> {
  const readPage = createPageReader(folder)
  return async exchange => {
    const { method, path, query } = exchange
    if (method !== 'GET' && method !== 'HEAD') {
      return sendText(exchange, 405, 'the console is read with GET\n', { allow: 'GET, HEAD' })
    }
    if (path === CONSOLE_PATH.slice(0, -1)) {
      const location = query === '' ? CONSOLE_PATH : `${CONSOLE_PATH}?${query}`
      return sendText(exchange, 301, '', { location })
    }
    const files = await readPage()
    if (!files) return sendText(exchange, 503, NOT_BUILT, { 'retry-after': '10' })
    const name = path.slice(CONSOLE_PATH.length)
    const file = files.get(name) ?? (isView(name, exchange.headers.accept) ? files.get(INDEX) : undefined)
    if (file) sendFile(exchange, file)
    else sendText(exchange, 404, 'there is no such file of the console\n')
  }
}

const NOT_BUILT = 'The console was not built. In a clone of the repository, `npm run build` builds it.\n'

/** Names of objects may have dots, so that the path alone does not say whether it is a view or a file. */
const isView = (name: string, accepted = ''): boolean =>
  !name.startsWith('assets/') && (accepted.includes('text/html') || !name.split('/').at(-1)!.includes('.'))

function sendFile(exchange: Exchange, file: PageFile): void {
  const variant = chooseVariant(file.variants, exchange.headers['accept-encoding'])
  const headers = {
    ...SECURITY_HEADERS,
    etag: variant.etag,
    'cache-control': file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    ...(file.variants.length > 1 && { vary: 'Accept-Encoding' }),
  }
  if (isKnown(exchange.headers['if-none-match'], variant.etag)) return exchange.begin(304, headers).end()
  const encoding = variant.encoding === '' ? {} : { 'content-encoding': variant.encoding }
  exchange.answer(200, { ...headers, ...encoding, 'content-type': file.mediaType }, variant.bytes)
}

const isKnown = (header: string | undefined, etag: string): boolean =>
  header !== undefined && header.split(',').some(each => each.trim().replace(/^W\//, '') === etag)

/** Quality 0 means that the encoding is not accepted; other qualities are not compared. */
function chooseVariant(variants: readonly Variant[], accepted: string | undefined): Variant {
  const encodings = new Set(
    (accepted ?? '')
      .split(',')
      .map(each => each.trim().toLowerCase())
      .filter(each => !/;\s*q=0(\.0*)?$/.test(each))
      .map(each => each.split(';')[0]!.trim()),
  )
  return variants.find(({ encoding }) => encoding === '' || encodings.has(encoding))!
}

function sendText(exchange: Exchange, status: number, text: string, headers: Record<string, string> = {}): void {
  const type = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
  exchange.answer(status, { ...SECURITY_HEADERS, ...type, ...headers }, text)
}
