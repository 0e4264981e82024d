// What a request is about, read once from its method and URL; authorization, routing and metrics all key on it.

export interface RequestInfo {
  /** False for /version, /healthz, discovery and other paths that name no resource. */
  readonly isResource: boolean
  /** A resource verb (`get`, `list`, `watch`, …), or the method in lower case. */
  readonly verb: string
  /** Percent-decoded. */
  readonly path: string
  readonly query: URLSearchParams
  readonly prefix: 'api' | 'apis' | ''
  readonly group: string
  readonly version: string
  readonly namespace: string
  readonly resource: string
  readonly name: string
  readonly subresource: string
  /** Path segments beyond the subresource. */
  readonly rest: readonly string[]
}

/** The path cannot be decoded. */
export class MalformedPath extends Error {
  override readonly name = 'MalformedPath'
}

export function parseRequestInfo(method: string, rawPath: string, rawQuery: string): RequestInfo {
  const path = decodePath(rawPath)
  const query = new URLSearchParams(rawQuery)
  const parts = path.replace(/^\/|\/$/g, '').split('/')
  const nonResource: RequestInfo = {
    isResource: false,
    verb: method.toLowerCase(),
    path,
    query,
    prefix: '',
    group: '',
    version: '',
    namespace: '',
    resource: '',
    name: '',
    subresource: '',
    rest: [],
  }
  const [prefix] = parts
  if (prefix !== 'api' && prefix !== 'apis') return nonResource
  const groupParts = prefix === 'api' ? 1 : 2
  const group = prefix === 'api' ? '' : (parts[1] ?? '')
  const version = parts[groupParts] ?? ''
  const target = parts.slice(groupParts + 1)
  if (target.length === 0 || target[0] === '') return { ...nonResource, prefix, group, version }

  const oldWatch = target[0] === 'watch' && target.length > 1
  const { namespace, segments } = splitNamespace(oldWatch ? target.slice(1) : target)
  const [resource = '', name = '', subresource = '', ...rest] = segments
  const verb = oldWatch ? 'watch' : verbOf(method, name, query)
  return { isResource: true, verb, path, query, prefix, group, version, namespace, resource, name, subresource, rest }
}

/** The parts of a namespace itself that can be addressed below it; anything else there is a resource inside it. */
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize'])

function splitNamespace(parts: readonly string[]): { namespace: string; segments: readonly string[] } {
  if (parts[0] !== 'namespaces' || parts.length < 2) return { namespace: '', segments: parts }
  const isInside = parts.length > 2 && !NAMESPACE_SUBRESOURCES.has(parts[2]!)
  return { namespace: parts[1]!, segments: isInside ? parts.slice(2) : parts }
}

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
      return isTrue(query.get('watch')) ? 'watch' : 'list'
    default:
      return method.toLowerCase()
  }
}

/** A boolean parameter is true when it is there, unless it says `false` or `0`. */
export const isTrue = (text: string | null): boolean => text !== null && text !== 'false' && text !== '0'

function decodePath(path: string): string {
  try {
    return path.includes('%') ? decodeURIComponent(path) : path
  } catch {
    throw new MalformedPath(`${path} is not a path`)
  }
}
