// The priority classes that every cluster has.
export * from './scheduling/system-priority-classes.js'
