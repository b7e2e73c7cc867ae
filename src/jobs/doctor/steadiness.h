// How well times repeat.
#ifndef HONE_JOBS_DOCTOR_STEADINESS_H_
#define HONE_JOBS_DOCTOR_STEADINESS_H_

#include <vector>

namespace hone::jobs::doctor {

// Standard deviation over mean; 0 of fewer than two.
double CoefficientOfVariation(const std::vector<double>& values);

// Seconds of the same piece of work, about two milliseconds of it, again and again for so long.
std::vector<double> RepeatedTimes(double seconds);

}  // namespace hone::jobs::doctor

#endif  // HONE_JOBS_DOCTOR_STEADINESS_H_
