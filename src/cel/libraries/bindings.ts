// cel.bind: a name for a value inside an expression.
import type { Library } from '../environment.js'
import { BIND_MACRO } from '../syntax/macros.js'

export const BINDINGS_LIBRARY: Library = { functions: [], macros: [BIND_MACRO] }
