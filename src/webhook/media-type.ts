// What is wrong with a Content-Type, in the words of Go's package mime.

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+/
const PARAMETER = /^;\s*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)\s*=\s*(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+|"(?:[^"\\\r\n]|\\.)*")/

/** Undefined if nothing is. */
export function errorOfMediaType(contentType: string): string | undefined {
  const [type = ''] = contentType.split(';', 1)
  return errorOfType(type.trim()) ?? errorOfParameters(contentType.slice(type.length))
}

function errorOfType(type: string): string | undefined {
  const first = TOKEN.exec(type)?.[0] ?? ''
  if (first === '') return 'no media type'
  if (first === type) return undefined
  if (type[first.length] !== '/') return 'expected slash after first token'
  const second = TOKEN.exec(type.slice(first.length + 1))?.[0] ?? ''
  if (second === '') return 'expected token after slash'
  return first.length + 1 + second.length === type.length ? undefined : 'unexpected content after media subtype'
}

function errorOfParameters(text: string): string | undefined {
  const names = new Set<string>()
  for (let rest = text.trimStart(); rest !== ''; ) {
    const parameter = PARAMETER.exec(rest)
    // Semicolons at the end are accepted.
    if (!parameter) return rest.trim() === ';' ? undefined : 'invalid media parameter'
    const name = parameter[1]!.toLowerCase()
    if (names.has(name)) return 'duplicate parameter name'
    names.add(name)
    rest = rest.slice(parameter[0].length).trimStart()
  }
  return undefined
}
