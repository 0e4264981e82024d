// A path with a domain in front, as controllers are named: `acme.io/foo`.
import { type FieldError, fieldInvalid, fieldRequired } from '../errors/field-errors.js'
import { checkDnsSubdomain } from './names.js'

const PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"
const PATH_PATTERN = new RegExp(`^${PATH}$`)

export function checkDomainPath(text: string, path: string): FieldError[] {
  if (text === '') return [fieldRequired(path)]
  const slash = text.indexOf('/')
  const [domain, rest] = [text.slice(0, slash), text.slice(slash + 1)]
  if (slash <= 0 || rest === '') {
    return [fieldInvalid(path, text, 'must be a domain-prefixed path (such as "acme.io/foo")')]
  }
  const errors = checkDnsSubdomain(domain).map(why => fieldInvalid(path, domain, why))
  if (PATH_PATTERN.test(rest)) return errors
  return [...errors, fieldInvalid(path, rest, `Invalid path (regex used for validation is '${PATH}')`)]
}
