// Checks the plan of the house: which room imports which, that rooms are entered by their doors, and that this check did
// look at every module. A room is a folder of src/. The files at its root are its doors; its sub-folders are private.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { cruise } from 'dependency-cruiser'

/** Each room with the rooms that it may import, bottom to top. */
const ROOMS = {
  base: '',
  meta: 'base',
  codec: 'base meta',
  storage: 'base',
  cel: 'base meta',
  webhook: 'base meta',
  types: 'base meta codec cel',
  schema: 'base meta codec cel types',
  convert: 'base meta codec cel webhook',
  kinds: 'base meta codec types convert',
  crd: 'base meta codec types schema convert kinds webhook',
  builtin: 'base meta codec cel types kinds webhook',
  patch: 'base meta types',
  apply: 'base meta codec types kinds',
  request: 'base meta codec types kinds',
  objects: 'base meta codec storage types convert kinds',
  auth: 'base meta codec storage cel webhook types kinds request objects',
  admission: 'base meta codec cel webhook types patch apply kinds builtin request objects auth',
  verbs: 'base meta codec storage types patch apply kinds builtin request objects admission',
  authoring: 'base meta codec cel webhook types schema convert kinds crd builtin request objects auth admission verbs',
  flowcontrol: 'base meta request',
  response: 'base meta codec storage types kinds objects verbs',
  openapi: 'base meta codec types kinds',
  discovery: 'base meta codec types kinds request response',
  controllers: 'base meta codec storage crd builtin kinds request objects admission verbs',
  workloads: 'base meta codec kinds request objects verbs controllers',
  http: 'base meta kinds flowcontrol request auth verbs response discovery openapi',
  aggregation: 'base meta codec kinds request objects verbs controllers openapi discovery http webhook',
  console: 'base meta codec cel types schema kinds crd request auth authoring http',
  server:
    'base meta codec storage cel webhook types schema convert kinds patch apply crd builtin request objects auth ' +
    'admission verbs flowcontrol response openapi discovery controllers workloads http aggregation console',
  testing: 'base meta codec storage types kinds request auth verbs workloads http server',
  cli: 'base meta codec storage cel webhook types schema crd verbs auth authoring console server testing',
}

/** Rooms without private parts: their folders only sort the files. */
const OPEN = new Set(['base', 'meta', 'request'])

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const rooms = Object.keys(ROOMS)
const importsOf = room => ROOMS[room].split(' ').filter(Boolean)
const listedBefore = room => new Set(rooms.slice(0, rooms.indexOf(room)))
const except = (room, allowed) => rooms.filter(other => other !== room && !allowed.has(other))
const tests = '\\.(test|suite)\\.ts$'

const forbidden = [
  ...rooms.flatMap(room => [
    {
      name: `${room} may import: ${ROOMS[room]}`,
      severity: 'error',
      from: { path: `^src/${room}/`, pathNot: tests },
      to: { path: `^src/(${except(room, new Set(importsOf(room))).join('|')})/` },
    },
    {
      // A test may set up what it needs with any room that is listed before its own.
      name: `tests of ${room} may import the rooms listed before it`,
      severity: 'error',
      from: { path: `^src/${room}/.*${tests}` },
      to: { path: `^src/(${except(room, listedBefore(room)).join('|')})/` },
    },
    ...(OPEN.has(room)
      ? []
      : [
          {
            name: `${room} is entered by the files at its root`,
            severity: 'error',
            from: { path: '^src/', pathNot: [`^src/${room}/`, tests] },
            to: { path: `^src/${room}/[^/]+/` },
          },
        ]),
  ]),
  { name: 'no cycles', severity: 'error', from: { path: '^src/' }, to: { circular: true } },
  {
    name: 'a module lives in a room',
    severity: 'error',
    from: { path: '^src/', pathNot: `^src/(${rooms.join('|')})/` },
    to: {},
  },
  {
    name: 'production code does not import tests',
    severity: 'error',
    from: { path: '^src/', pathNot: tests },
    to: { path: [tests, '^(test|bench|scripts)/'] },
  },
  {
    name: 'the server does not import the console',
    severity: 'error',
    from: { path: '^src/' },
    to: { path: '^console/' },
  },
  {
    name: 'production code uses declared dependencies',
    severity: 'error',
    from: { path: '^src/', pathNot: tests },
    to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'] },
  },
]

const { output } = await cruise(['src'], {
  validate: true,
  ruleSet: { forbidden },
  parser: 'swc',
  tsPreCompilationDeps: true,
  doNotFollow: { path: 'node_modules' },
  enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types'] },
})

const sources = readdirSync('src', { recursive: true }).filter(name => name.endsWith('.ts'))
const checked = output.modules.filter(module => module.source.startsWith('src/'))
const dependencies = checked.reduce((sum, module) => sum + module.dependencies.length, 0)
// A parser that cannot read TypeScript finds no modules, or modules without imports, and reports success.
if (checked.length < sources.length || dependencies < sources.length) {
  console.error(`Only ${checked.length} of ${sources.length} modules were checked, with ${dependencies} imports.`)
  process.exit(1)
}
const violations = [...output.summary.violations, ...consoleViolations()]
for (const { rule, from, to } of violations) console.error(`${rule.name}: ${from} → ${to}`)
if (violations.length > 0) process.exit(1)
console.log(`Boundaries hold: ${checked.length} modules, ${dependencies} imports.`)

/** The console imports the doors of base, meta and codec. Its files are read here: the parser above knows no JSX. */
function consoleViolations() {
  const rule = { name: 'the console imports doors of base, meta and codec' }
  const modules = readdirSync('console/src', { recursive: true, encoding: 'utf8' }).filter(name => /\.tsx?$/.test(name))
  return modules.flatMap(name => {
    const from = `console/src/${name}`
    const imports = readFileSync(from, 'utf8').matchAll(
      /^(?:import|export) (?!type )[^']*from '(\.[^']*\/src\/[^']*)'/gm,
    )
    return [...imports]
      .map(([, to]) => to)
      .filter(to => !/^(\.\.\/)+src\/(base\/.+|meta\/.+|codec\/[^/]+)$/.test(to))
      .map(to => ({ rule, from, to }))
  })
}
