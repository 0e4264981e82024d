// The cookie with the id of a session.
import { SESSION_MS } from '../sessions.js'

/**
 * Browsers have one jar for all ports of a host, so the name contains the port: a second server on this machine does not
 * replace the cookie of the first. `__Host-` makes them refuse the cookie unless it is Secure and of this host only.
 */
function cookieName(origin: string): string {
  const { protocol, port } = new URL(origin)
  const isSecure = protocol === 'https:'
  return `${isSecure ? '__Host-' : ''}binnacle-console-${port || (isSecure ? 443 : 80)}`
}

export function readCookie(header: string | undefined, origin: string): string | undefined {
  const prefix = `${cookieName(origin)}=`
  return header
    ?.split(';')
    .map(part => part.trim())
    .find(part => part.startsWith(prefix))
    ?.slice(prefix.length)
}

export const setCookie = (origin: string, id: string): string => printCookie(origin, id, SESSION_MS / 1000)

export const removeCookie = (origin: string): string => printCookie(origin, '', 0)

function printCookie(origin: string, value: string, maxAge: number): string {
  const secure = origin.startsWith('https:') ? '; Secure' : ''
  return `${cookieName(origin)}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`
}
