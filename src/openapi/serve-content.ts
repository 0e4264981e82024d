// A document by the conditions and ranges of RFC 9110, as Go's `http.ServeContent` reads them.

export interface ContentRequest {
  readonly method: string
  readonly headers: Readonly<Partial<Record<ConditionHeader, string | undefined>>>
}

type ConditionHeader = 'if-match' | 'if-none-match' | 'if-modified-since' | 'if-unmodified-since' | 'if-range' | 'range'

export interface Content {
  /** With its quotes. */
  readonly etag: string
  /** When it was made, in milliseconds. */
  readonly modified: number
  /** `content-type` and what else describes it. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: () => Buffer
}

export interface ContentResponse {
  readonly status: number
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Whether the conditions of the request leave something to send, so that the body is needed. */
export const needsBody = (request: ContentRequest, content: Omit<Content, 'body'>): boolean =>
  failedCondition(request, content) === undefined

export function serveContent(request: ContentRequest, content: Content): ContentResponse {
  const headers: ContentResponse['headers'] = {
    ...content.headers,
    etag: content.etag,
    'last-modified': dateOf(content.modified),
  }
  const failed = failedCondition(request, content)
  if (failed === 412) return { status: 412, headers, body: Buffer.alloc(0) }
  if (failed === 304) {
    const { 'content-type': _type, 'last-modified': _modified, ...kept } = headers
    return { status: 304, headers: kept, body: Buffer.alloc(0) }
  }
  const complete = content.body()
  const ranges = wantsRange(request, content) ? parseRanges(request.headers['range'], complete.length) : []
  if (typeof ranges === 'string') return unsatisfiable(ranges, complete.length, headers)
  return rangesOf(complete, ranges, { ...headers, 'accept-ranges': 'bytes' })
}

// ---- conditions

function failedCondition(
  { method, headers }: ContentRequest,
  { etag, modified }: Omit<Content, 'body'>,
): 304 | 412 | undefined {
  const isRead = method === 'GET' || method === 'HEAD'
  if (headers['if-match']) {
    if (!listHas(headers['if-match'], tag => tag === etag && !tag.startsWith('W/'))) return 412
  } else if (isAfter(modified, headers['if-unmodified-since'])) return 412
  if (headers['if-none-match']) {
    if (listHas(headers['if-none-match'], tag => withoutWeak(tag) === withoutWeak(etag))) return isRead ? 304 : 412
  } else if (isRead && isAfter(modified, headers['if-modified-since']) === false) return 304
  return undefined
}

const ENTITY_TAG = /^\s*((?:W\/)?"[\x21\x23-\x7E\x80-\xFF]*")/

/** Whether a list of entity tags has `*` or one that matches. What follows a mistake is not read. */
function listHas(list: string, matches: (tag: string) => boolean): boolean {
  for (let rest = list.trimStart(); rest !== ''; rest = rest.trimStart()) {
    if (rest.startsWith('*')) return true
    const tag = rest.startsWith(',') ? ',' : ENTITY_TAG.exec(rest)?.[1]
    if (tag === undefined) return false
    if (matches(tag)) return true
    rest = rest.slice(tag.length)
  }
  return false
}

const withoutWeak = (tag: string): string => (tag.startsWith('W/') ? tag.slice(2) : tag)

/** Undefined if the header is absent or no date. */
function isAfter(modified: number, header: string | undefined): boolean | undefined {
  const time = parseDate(header)
  return time === undefined ? undefined : inSeconds(modified) > inSeconds(time)
}

const inSeconds = (time: number): number => Math.floor(time / 1000)

const HTTP_DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/

function parseDate(header: string | undefined): number | undefined {
  if (header === undefined || !HTTP_DATE.test(header)) return undefined
  const time = Date.parse(header)
  return Number.isNaN(time) ? undefined : time
}

const dateOf = (time: number): string => new Date(time).toUTCString()

// ---- ranges

interface Range {
  readonly start: number
  readonly length: number
}

/** A range counts only if the document is still the one that `If-Range` names. */
function wantsRange({ method, headers }: ContentRequest, { etag, modified }: Content): boolean {
  const header = headers['if-range']
  if (!headers['range']) return false
  if (!header || (method !== 'GET' && method !== 'HEAD')) return true
  const tag = ENTITY_TAG.exec(header)?.[1]
  if (tag !== undefined) return tag === etag && !tag.startsWith('W/')
  const time = parseDate(header)
  return time !== undefined && inSeconds(time) === inSeconds(modified)
}

/** The ranges that overlap with a document of this size; a text if there is none, or a mistake. */
function parseRanges(header: string | undefined, size: number): readonly Range[] | RangeError {
  if (!header?.startsWith('bytes=')) return 'invalid range'
  const ranges: Range[] = []
  let isBeyond = false
  for (const part of header.slice('bytes='.length).split(',')) {
    if (part.trim() === '') continue
    const range = parseRange(part.trim(), size)
    if (range === undefined) return 'invalid range'
    if (range === 'beyond') isBeyond = true
    else ranges.push(range)
  }
  return isBeyond && ranges.length === 0 ? 'invalid range: failed to overlap' : ranges
}

type RangeError = 'invalid range' | 'invalid range: failed to overlap'

function parseRange(text: string, size: number): Range | 'beyond' | undefined {
  const [, first, last] = /^(\d*)\s*-\s*(\d*)$/.exec(text) ?? []
  if (first === undefined || last === undefined) return undefined
  if (first === '') {
    if (last === '') return undefined
    const length = Math.min(Number(last), size)
    return { start: size - length, length }
  }
  const start = Number(first)
  if (start >= size) return 'beyond'
  if (last === '') return { start, length: size - start }
  if (start > Number(last)) return undefined
  return { start, length: Math.min(Number(last), size - 1) - start + 1 }
}

/** Each range has a header of its own in the response, which may be much longer than the range. */
const MAX_RANGES = 1_000

/** Very many ranges, and several that hold more than the document, are answered with the document. */
function rangesOf(
  complete: Buffer,
  ranges: readonly Range[],
  headers: Readonly<Record<string, string>>,
): ContentResponse {
  const total = ranges.reduce((sum, { length }) => sum + length, 0)
  if (ranges.length === 0 || ranges.length > MAX_RANGES || total > complete.length)
    return { status: 200, headers, body: complete }
  const [only] = ranges
  if (ranges.length === 1 && only) {
    return {
      status: 206,
      headers: { ...headers, 'content-range': contentRange(only, complete.length) },
      body: complete.subarray(only.start, only.start + only.length),
    }
  }
  const parts = ranges.flatMap(range => [
    Buffer.from(
      `\r\n--${BOUNDARY}\r\nContent-Range: ${contentRange(range, complete.length)}\r\nContent-Type: ${headers['content-type']}\r\n\r\n`,
    ),
    complete.subarray(range.start, range.start + range.length),
  ])
  const body = Buffer.concat([...parts, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]).subarray('\r\n'.length)
  return { status: 206, headers: { ...headers, 'content-type': `multipart/byteranges; boundary=${BOUNDARY}` }, body }
}

/** No part of a document holds this: JSON has no such line, and protobuf only by a chance of 1 in 2^240. */
const BOUNDARY = '5f3c1de9a7b24c06f18e90d2ab64c7713e08f5b29d4a6c01e7f3928b5dc4'

const contentRange = ({ start, length }: Range, size: number): string => `bytes ${start}-${start + length - 1}/${size}`

function unsatisfiable(error: RangeError, size: number, headers: Readonly<Record<string, string>>): ContentResponse {
  const { etag: _etag, 'last-modified': _modified, 'cache-control': _control, ...kept } = headers
  return {
    status: 416,
    headers: {
      ...kept,
      ...(error.endsWith('overlap') && { 'content-range': `bytes */${size}` }),
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
    },
    body: Buffer.from(`${error}\n`),
  }
}
