/* How a job's process gets memory from the system.  Call it in the fork, before the job begins; one thread. */
#ifndef RKB_STAGE_CONFINED_JOB_MEMORY_H
#define RKB_STAGE_CONFINED_JOB_MEMORY_H

/* The process uses freed memory again, and its heap lies in huge pages where the system has them. */
void confined_job_memory(void);

#endif
