// A URI as Go's url.ParseRequestURI reads it: absolute, or a path that begins with a slash. Fragments are not treated
// separately.
import { isColonForm } from './address-formats.js'

export function isRequestUri(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  if (text === '' || /[\u0000-\u001f\u007f]/.test(text)) return false
  if (text === '*') return true
  if (text.startsWith(':')) return false
  const scheme = /^[a-zA-Z][a-zA-Z0-9+.-]*:/.exec(text)?.[0] ?? ''
  const [rest = ''] = text.slice(scheme.length).split('?', 1)
  if (!rest.startsWith('/')) return scheme !== '' // opaque: `urn:a:b`
  if (scheme === '' || !rest.startsWith('//')) return isEscaped(rest)
  const slash = rest.indexOf('/', 2)
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash)
  return isAuthority(authority) && isEscaped(slash < 0 ? '' : rest.slice(slash))
}

/** Every percent sign begins an escape. */
const isEscaped = (text: string): boolean => !/%(?![0-9a-fA-F]{2})/.test(text)

function isAuthority(authority: string): boolean {
  const sign = authority.lastIndexOf('@')
  const user = sign < 0 ? '' : authority.slice(0, sign)
  return /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) && isEscaped(user) && isHost(authority.slice(sign + 1))
}

function isHost(host: string): boolean {
  if (host.startsWith('[')) {
    const end = host.lastIndexOf(']')
    if (end < 0 || !/^(?::[0-9]*)?$/.test(host.slice(end + 1))) return false
    const [address = '', zone = ''] = host.slice(1, end).split('%25', 2)
    return isColonForm(address) && isEscaped(zone)
  }
  const colon = host.indexOf(':')
  if (colon >= 0 && !/^:[0-9]*$/.test(host.slice(colon))) return false
  // In a name only characters beyond ASCII may be escaped.
  // oxlint-disable-next-line no-control-regex
  return /^(?:[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"]|[^\u0000-\u007f]|%[89a-fA-F][0-9a-fA-F])*$/.test(host)
}
