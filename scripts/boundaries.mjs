// Checks that rooms import only from rooms below them, and that this check did look at every module.
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { cruise } from 'dependency-cruiser'

// The house of ARCHITECTURE.md, from top to bottom. Rooms on one line do not know each other.
const FLOORS = [
  ['cli'],
  ['server'],
  ['http'],
  ['auth', 'discovery', 'console', 'controllers'],
  ['resources'],
  ['admission', 'apply', 'patch', 'openapi'],
  ['crd', 'builtin'],
  ['kinds'],
  ['schema', 'convert'],
  ['cel', 'codec', 'storage', 'webhook'],
  ['meta'],
]

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const rooms = FLOORS.flat()
const tests = '\\.(test|suite)\\.ts$'
const forbidden = [
  ...FLOORS.flatMap((floor, level) =>
    floor.map(room => {
      const below = new Set(FLOORS.slice(level + 1).flat())
      const others = rooms.filter(other => other !== room && !below.has(other))
      return {
        name: `${room}-looks-down`,
        severity: 'error',
        from: { path: `^src/${room}/` },
        to: { path: `^src/(${others.join('|')})/` },
      }
    }),
  ),
  { name: 'no-cycles', severity: 'error', from: { path: '^src/' }, to: { circular: true } },
  {
    name: 'a-module-lives-in-a-room',
    severity: 'error',
    from: { path: '^src/', pathNot: `^src/(${rooms.join('|')})/` },
    to: {},
  },
  {
    name: 'production-code-stands-alone',
    severity: 'error',
    from: { path: '^src/', pathNot: tests },
    to: { path: [tests, '^(test|bench|scripts)/'] },
  },
  {
    name: 'production-code-uses-declared-dependencies',
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
for (const { rule, from, to } of output.summary.violations) console.error(`${rule.name}: ${from} → ${to}`)
if (output.summary.violations.length > 0) process.exit(1)
console.log(`Boundaries hold: ${checked.length} modules, ${dependencies} imports.`)
