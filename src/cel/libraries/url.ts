// isURL, url and the parts of one.

import {
  escapedPath,
  type GoUrl,
  hostnameOf,
  parseReference,
  parseRequestUri,
  portOf,
  queryOf,
} from '../../meta/go/go-url.js'
import { CelError } from '../cel-error.js'
import { BOOL, type CelType, listOf, mapOf, objectType, STRING } from '../check/cel-type.js'
import { STRING_TRAVERSAL, traversal } from '../cost/cost-intervals.js'
import type { FunctionDeclaration, Library } from '../environment.js'
import { costSize, mapFrom, OpaqueValue, type Value } from '../values/values.js'

export const URL_TYPE = objectType('kubernetes.URL')

class UrlValue extends OpaqueValue {
  readonly type = URL_TYPE
  constructor(
    readonly url: GoUrl,
    private readonly text: string,
  ) {
    super()
  }
  equals(other: Value): boolean {
    return other instanceof UrlValue && other.text === this.text
  }
}

const part = (name: string, id: string, result: CelType, read: (url: GoUrl) => Value): FunctionDeclaration => ({
  name,
  overloads: [{ id, member: true, params: [URL_TYPE], result, call: value => read((value as UrlValue).url) }],
})

function toUrl(text: string): Value {
  // Fragments are only read by the second form, which takes more than the first.
  const absolute = parseRequestUri(text)
  const url = absolute.ok ? parseReference(text) : absolute
  return url.ok
    ? new UrlValue(url.value, text)
    : new CelError(`URL parse error during conversion from string: ${url.error}`)
}

export const URL_LIBRARY: Library = {
  equalityCosts: { [URL_TYPE.name]: ({ size, sizeKnown }) => traversal({ min: 1, max: sizeKnown ? size.max : 1 }) },
  functions: [
    {
      name: 'url',
      overloads: [
        {
          id: 'string_to_url',
          params: [STRING],
          result: URL_TYPE,
          call: text => toUrl(text as string),
          cost: ([text], budget) => Math.ceil(costSize(text!, budget) * STRING_TRAVERSAL),
          estimate: ({ args: [arg] }) => ({ cost: traversal(arg!.size), resultSize: arg!.size }),
        },
      ],
    },
    {
      name: 'isURL',
      overloads: [
        { id: 'is_url_string', params: [STRING], result: BOOL, call: text => parseRequestUri(text as string).ok },
      ],
    },
    part('getScheme', 'url_get_scheme', STRING, url => url.scheme),
    part('getHost', 'url_get_host', STRING, url => url.host),
    part('getHostname', 'url_get_hostname', STRING, hostnameOf),
    part('getPort', 'url_get_port', STRING, portOf),
    part('getEscapedPath', 'url_get_escaped_path', STRING, escapedPath),
    part('getQuery', 'url_get_query', mapOf(STRING, listOf(STRING)), url => mapFrom(queryOf(url))),
  ],
}
