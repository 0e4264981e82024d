// The resource, verb and names of a request, parsed once from its method and URL. Authorization, routing and metrics use it.

import { checkPathSegment } from '../meta/object/names.js'
import { querySwitch, queryText } from '../meta/options/query.js'
import { parseFieldSelector, requiredField } from '../meta/selectors/field-selectors.js'

export interface RequestInfo {
  /** False for /version, /healthz, discovery and other paths that name no resource. */
  readonly isResource: boolean
  /** A resource verb (`get`, `list`, `watch`, …), empty for other methods; for other paths the method in lower case. */
  readonly verb: string
  /** Percent-decoded. */
  readonly path: string
  readonly query: URLSearchParams
  readonly prefix: 'api' | 'apis' | ''
  readonly group: string
  readonly version: string
  /** For the path of a namespace itself, that namespace. */
  readonly namespace: string
  /** Whether the resource is inside a namespace, as in `/namespaces/a/pods` and not in `/namespaces/a`. */
  readonly isInNamespace: boolean
  readonly resource: string
  /** The name of the object; for a list or watch the name that its field selector requires. */
  readonly name: string
  readonly subresource: string
  /** Path segments beyond the subresource. */
  readonly rest: readonly string[]
  /** The path is one of the deprecated ones below `/watch/`. */
  readonly isOldWatch: boolean
}

/** The path cannot be decoded. */
export class MalformedPath extends Error {
  override readonly name = 'MalformedPath'
}

export function parseRequestInfo(method: string, rawPath: string, rawQuery: string): RequestInfo {
  const path = decodePath(rawPath)
  const query = parseQuery(rawQuery)
  const parts = splitPath(path)
  const [prefix] = parts
  if (prefix !== 'api' && prefix !== 'apis') return nonResource(method, path, query, '', '', '')
  const groupParts = prefix === 'api' ? 1 : 2
  const group = prefix === 'api' ? '' : (parts[1] ?? '')
  const version = parts[groupParts] ?? ''
  if (parts.length <= groupParts + 1) return nonResource(method, path, query, prefix, group, version)

  let at = groupParts + 1
  const isOldWatch = parts[at] === 'watch' && parts.length > at + 1
  if (isOldWatch) at++
  const namespace = parts[at] === 'namespaces' ? (parts[at + 1] ?? '') : ''
  const isInNamespace =
    parts[at] === 'namespaces' && parts.length > at + 2 && !NAMESPACE_SUBRESOURCES.has(parts[at + 2]!)
  if (isInNamespace) at += 2
  const inPath = parts[at + 1] ?? ''
  return {
    isResource: true,
    verb: isOldWatch ? 'watch' : verbOf(method, inPath, query),
    path,
    query,
    prefix,
    group,
    version,
    namespace,
    isInNamespace,
    resource: parts[at] ?? '',
    // A list that selects one name is authorized by that name.
    name: inPath === '' && !isOldWatch && (method === 'GET' || method === 'HEAD') ? selectedName(query) : inPath,
    subresource: parts[at + 2] ?? '',
    rest: parts.length > at + 3 ? parts.slice(at + 3) : NOTHING,
    isOldWatch,
  }
}

/** The subresources of a namespace; any other segment after its name is a resource inside it. */
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize'])

const NOTHING: readonly string[] = []

const nonResource = (
  method: string,
  path: string,
  query: URLSearchParams,
  prefix: RequestInfo['prefix'],
  group: string,
  version: string,
): RequestInfo => ({
  isResource: false,
  verb: method.toLowerCase(),
  path,
  query,
  prefix,
  group,
  version,
  namespace: '',
  isInNamespace: false,
  resource: '',
  name: '',
  subresource: '',
  rest: NOTHING,
  isOldWatch: false,
})

/** Slashes at both ends are ignored. */
function splitPath(path: string): string[] {
  let start = 0
  let end = path.length
  while (start < end && path.charCodeAt(start) === SLASH) start++
  while (end > start && path.charCodeAt(end - 1) === SLASH) end--
  return start === end ? [] : path.slice(start, end).split('/')
}

const SLASH = 0x2f

function verbOf(method: string, name: string, query: URLSearchParams): string {
  switch (method) {
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return 'patch'
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete'
    case 'GET':
    case 'HEAD':
      if (name !== '') return 'get'
      return querySwitch(query, 'watch') === true ? 'watch' : 'list'
    default:
      return ''
  }
}

function selectedName(query: URLSearchParams): string {
  const text = queryText(query, 'fieldSelector')
  const selector = text === '' ? undefined : parseFieldSelector(text)
  const name = selector?.ok ? (requiredField(selector.value, 'metadata.name') ?? '') : ''
  return checkPathSegment(name).length === 0 ? name : ''
}

function decodePath(path: string): string {
  if (!path.includes('%')) return path
  if (MALFORMED_ESCAPE.test(path)) throw new MalformedPath(`${path} is not a path`)
  // The bytes are decoded as UTF-8, whatever they are.
  const bytes = path.replace(/%[0-9a-f]{2}/gi, escape => String.fromCharCode(Number.parseInt(escape.slice(1), 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

/** Shared by the many requests without parameters, which are never changed. */
const NO_QUERY = new URLSearchParams()

/** Parameters that are not well formed are ignored. */
function parseQuery(query: string): URLSearchParams {
  if (query === '') return NO_QUERY
  if (!MALFORMED.test(query)) return new URLSearchParams(query)
  return new URLSearchParams(
    query
      .split('&')
      .filter(pair => !MALFORMED.test(pair))
      .join('&'),
  )
}

const MALFORMED_ESCAPE = /%(?![0-9a-f]{2})/i
const MALFORMED = /;|%(?![0-9a-f]{2})/i
