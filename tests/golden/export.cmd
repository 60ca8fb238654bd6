# arguments: process_db.folded
export collapsed
resource Page
export collapsed | sort | head -2
export cpprof-text
export callgrind
export speedscope
granularity module
export collapsed
export nonsense
