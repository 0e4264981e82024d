// How much a server logs. It can be changed while the server runs: `PUT /debug/flags/v` with a number.
import type { PathHandler } from '../../http/pages.js'
import { quote } from '../../meta/go/go-text.js'

export interface Verbosity {
  level: number
}

const MAX_BODY = 1024
const MAX_LEVEL = 2 ** 31 - 1
const TEXT = { 'content-type': 'text/plain' }

/** The page of the flag, and the one that lists all flags with a page. */
export const verbosityPages = (verbosity: Verbosity): [string, PathHandler][] => [
  ['/debug/flags/v', changeVerbosity(verbosity)],
  ['/debug/flags', showFlags],
  ['/debug/flags/*', showFlags],
]

function changeVerbosity(verbosity: Verbosity): PathHandler {
  return async request => {
    const { info, reply } = request
    if (info.verb !== 'put') return reply.send(406, TEXT, 'unsupported http method')
    const given = (await request.readBody(MAX_BODY)).toString()
    const level = /^\d+$/.test(given) ? Number(given) : Number.NaN
    if (!(level <= MAX_LEVEL)) {
      const problem = Number.isNaN(level) ? 'invalid syntax' : 'value out of range'
      return reply.send(400, TEXT, `strconv.ParseUint: parsing ${quote(given)}: ${problem}`)
    }
    verbosity.level = level
    return reply.send(200, TEXT, `successfully set klog.logging.verbosity to ${given}`)
  }
}

const showFlags: PathHandler = ({ reply }) =>
  reply.send(
    200,
    { 'content-type': 'text/html; charset=utf-8' },
    '<html>\n<head>\n<title>/debug/flags/</title>\n</head>\n<body>\n/debug/flags/<br>\n<br>\nflags:<br>\n<table>\n' +
      '<tr>v<br>\n</table>\n<br>\nfull flags configurable<br>\n</body>\n</html>\n',
  )
